#include "cuda/errors.hpp"

#include <string>

#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

Code code_of(cudaError_t result) {
  switch (result) {
    case cudaErrorMemoryAllocation:
      return Code::OutOfMemory;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
      return Code::DeviceUnavailable;
    default:
      return Code::DeviceFailed;
  }
}

std::string_view advice_of(cudaError_t result) {
  switch (result) {
    case cudaErrorMemoryAllocation:
      return "; shard more (a higher ZeRO stage) or free device memory";
    case cudaErrorInsufficientDriver:
      return "; install an NVIDIA driver that is at least as new as the CUDA runtime";
    case cudaErrorNoDevice:
      return "; see whether nvidia-smi lists a device and CUDA_VISIBLE_DEVICES leaves it visible";
    default:
      return "";
  }
}

}  // namespace

void check(cudaError_t result, std::string_view doing) {
  if (result == cudaSuccess) return;
  // CUDA keeps it for the next call that asks, which would take it for its own.
  cudaGetLastError();
  throw Error(code_of(result), "CUDA failed at " + std::string(doing) + ": " + cudaGetErrorString(result) +
                                   " (" + cudaGetErrorName(result) + ")" + std::string(advice_of(result)));
}

}  // namespace foldstep::cuda
