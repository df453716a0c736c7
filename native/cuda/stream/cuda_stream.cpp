#include "cuda/stream/cuda_stream.hpp"

#include <utility>

namespace foldstep::cuda {

namespace {

std::shared_ptr<Lane> create_lane(std::shared_ptr<Context> context) {
  context->use();
  return std::make_shared<Lane>(std::move(context));
}

}  // namespace

CudaStream::CudaStream(std::shared_ptr<Context> context) : lane_(create_lane(std::move(context))) {}

void CudaStream::enqueue(Task task) {
  issuing_.enqueue([lane = lane_, task = std::make_shared<const Task>(std::move(task))](const Cancelled&) {
    lane->context().use();
    try {
      (*task)(*lane);
    } catch (...) {
      // Some of it may have been issued.
      lane->keep(task);
      throw;
    }
    lane->keep(task);
  });
}

void CudaStream::notify(Callback callback) {
  issuing_.notify([lane = lane_, callback = std::move(callback)](std::exception_ptr error) mutable {
    lane->notify(std::move(callback), std::move(error));
  });
}

void CudaStream::close() {
  lane_->begin_close();
  issuing_.close();
  lane_->end_close();
}

}  // namespace foldstep::cuda
