#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "memory.hpp"

namespace foldstep::simulated {

/// All memory of this process that the runtime knows.
class Allocations {
 public:
  static Allocations& get();

  cudaError_t allocate(void** address, std::size_t bytes, Kind kind, int device);
  /// Maps what another process has allocated, or counts one opening more. `file` becomes the registry's own.
  cudaError_t open(void** address, int file, unsigned long number, std::size_t bytes, int device);
  /// `address` is an allocation's first byte.
  cudaError_t release(void* address, Kind kind);

  std::optional<Allocation> find(const void* address);
  std::size_t device_bytes();
  void enter();
  void leave();

 private:
  void protect(const Allocation& allocation) const;
  bool intact(const Allocation& allocation) const;
  cudaError_t map(Allocation& allocation);
  void insert(const Allocation& allocation);

  std::mutex mutex_;
  std::map<const std::byte*, Allocation> by_address_;
  int users_ = 0;  ///< DeviceAccess that live
  int attempts_ = 0;
};

}  // namespace foldstep::simulated
