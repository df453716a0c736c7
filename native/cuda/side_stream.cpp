#include "cuda/side_stream.hpp"

#include "cuda/errors.hpp"

namespace foldstep::cuda {

SideStream::SideStream() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
}

SideStream::~SideStream() {
  cudaStreamDestroy(stream_);
}

void SideStream::copy(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_), "copying");
  check(cudaStreamSynchronize(stream_), "copying");
}

void SideStream::zero(void* target, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  check(cudaMemsetAsync(target, 0, bytes, stream_), "zeroing");
  check(cudaStreamSynchronize(stream_), "zeroing");
}

}  // namespace foldstep::cuda
