#include "cuda/memory/pinned_memory.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/errors.hpp"

namespace foldstep::cuda {

PinnedMemory::PinnedMemory(std::size_t bytes) : bytes_(bytes) {
  void* address = nullptr;
  check(cudaHostAlloc(&address, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable | cudaHostAllocMapped),
        "allocating " + std::to_string(bytes) + " bytes of pinned host memory");
  std::memset(address, 0, bytes);
  data_ = static_cast<std::byte*>(address);
}

PinnedMemory::~PinnedMemory() {
  cudaFreeHost(data_);
}

}  // namespace foldstep::cuda
