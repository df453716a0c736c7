#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace foldstep::cuda {

/// Throws unless `result` is success, with CUDA's own words for it and what was being done. Errors:
/// Code::OutOfMemory, DeviceUnavailable without a driver or a device, else DeviceFailed.
void check(cudaError_t result, std::string_view doing);

}  // namespace foldstep::cuda
