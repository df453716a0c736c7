#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

namespace foldstep::cuda {

/// Copies at once, on a stream of its own: it waits for no other stream, also not for kernels that wait for
/// other ranks. Thread-safe; the calling thread has chosen the device.
class SideStream {
 public:
  SideStream();
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  /// Between any two of host and device. Returns when it is done.
  void copy(void* target, const void* source, std::size_t bytes);
  /// Device memory. Returns when it is done.
  void zero(void* target, std::size_t bytes);

 private:
  std::mutex mutex_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace foldstep::cuda
