#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "cuda/device/device.cuh"
#include "cuda/kernels/kernels.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

/// Blocks that fit on a multiprocessor of any architecture, given kernels of at most 64 registers a thread.
constexpr int resident_blocks = 4;

/// Whether an operation before this kernel has failed, so that there is nothing to compute from.
FOLDSTEP_DEVICE bool has_failed(const Status* status) {
  return status->failed != 0;
}

/// The same for every thread of a block whose threads work together, whenever the status changes.
FOLDSTEP_DEVICE bool block_has_failed(const Status* status) {
  FOLDSTEP_SHARED(bool, failed, 1);
  if (thread_index() == 0) failed[0] = has_failed(status);
  block_barrier();
  return failed[0];
}

/// Enough blocks for `items` of which a thread takes one at a time, at most `per_multiprocessor` for each
/// multiprocessor.
inline unsigned blocks_for(const Launch& launch, std::size_t items,
                           int per_multiprocessor = resident_blocks) {
  const std::size_t needed = (items + block_threads - 1) / block_threads;
  const auto most =
      static_cast<std::size_t>(launch.multiprocessors) * static_cast<std::size_t>(per_multiprocessor);
  return static_cast<unsigned>(std::clamp<std::size_t>(needed, 1, most));
}

/// Starts a kernel whose last argument is the launch's status.
template <typename Kernel, typename... Arguments>
void start_or_throw(const char* name, Kernel* kernel, const Launch& launch, unsigned blocks,
                    const Arguments&... arguments) {
  const cudaError_t error = start(kernel, blocks, launch.stream, arguments..., launch.status);
  if (error == cudaSuccess) return;
  throw Error(Code::DeviceFailed,
              "the device did not start the kernel " + std::string(name) + ": " + cudaGetErrorString(error));
}

}  // namespace foldstep::cuda
