#include "cuda/memory/allocator_watch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/errors.hpp"

namespace foldstep::cuda {

namespace {

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free;
}

}  // namespace

void AllocatorWatch::reset() {
  const std::size_t free = free_bytes();
  const std::lock_guard lock(mutex_);
  free_at_reset_ = least_free_ = free;
}

void AllocatorWatch::look() {
  const std::size_t free = free_bytes();
  const std::lock_guard lock(mutex_);
  least_free_ = std::min(least_free_, free);
}

std::size_t AllocatorWatch::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return free_at_reset_ - least_free_;
}

}  // namespace foldstep::cuda
