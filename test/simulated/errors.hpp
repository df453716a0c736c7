#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <utility>

namespace foldstep::simulated {

/// The device has failed: says why on stderr, and gives `error` to every call from now on.
void break_device(cudaError_t error, const std::string& why);
cudaError_t broken();

/// Remembers `error` for cudaGetLastError on this thread.
cudaError_t remember(cudaError_t error);

/// Whether there is a device at all.
cudaError_t available();

/// What a function of the runtime does: nothing where the device is not there or has failed.
template <typename Function>
cudaError_t call(Function&& function) {
  cudaError_t error = available();
  if (error == cudaSuccess) error = broken();
  return remember(error != cudaSuccess ? error : std::forward<Function>(function)());
}

}  // namespace foldstep::simulated
