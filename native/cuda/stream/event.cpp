#include "cuda/stream/event.hpp"

#include "cuda/errors.hpp"

namespace foldstep::cuda {

Event::Event() {
  check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event");
}

Event::~Event() {
  cudaEventDestroy(event_);
}

void Event::record(cudaStream_t stream) {
  check(cudaEventRecord(event_, stream), "recording an event");
}

void Event::hold_back(cudaStream_t stream) const {
  check(cudaStreamWaitEvent(stream, event_, 0), "ordering two streams");
}

bool Event::passed() const {
  const cudaError_t result = cudaEventQuery(event_);
  if (result == cudaErrorNotReady) {
    // Not an error, but kept as one for the next call that asks.
    cudaGetLastError();
    return false;
  }
  check(result, "running what was enqueued");
  return true;
}

}  // namespace foldstep::cuda
