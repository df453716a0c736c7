#pragma once

#include <cuda_runtime_api.h>

namespace foldstep::simulated {

/// Of an allocation's first byte: what another process opens it by.
cudaError_t export_memory(cudaIpcMemHandle_t* handle, void* address);
/// Maps what another process has exported.
cudaError_t open_memory(void** address, const cudaIpcMemHandle_t& handle);
/// Counts one opening less.
cudaError_t close_memory(void* address);

}  // namespace foldstep::simulated
