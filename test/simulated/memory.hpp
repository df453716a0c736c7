#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

namespace foldstep::simulated {

enum class Kind {
  Device,  ///< of this process
  Peer,    ///< of another process, opened by its handle
  Pinned,
};

/// Memory that the runtime knows.
struct Allocation {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Kind kind = Kind::Device;
  int device = 0;
  std::byte* pages = nullptr;  ///< with `data` in them, and a page that faults on either side
  std::size_t page_bytes = 0;
  int file = -1;             ///< what peers open
  unsigned long number = 0;  ///< of the file: what tells it from others
  int openings = 1;          ///< of a peer's
};

/// The allocation that `address` lies in.
std::optional<Allocation> allocation_of(const void* address);
bool is_device_memory(const void* address);
bool is_peer_memory(const void* address);

/// While one of these lives, device memory can be reached by this process; otherwise touching it is a
/// segmentation fault, since a host cannot on a real device either.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

}  // namespace foldstep::simulated
