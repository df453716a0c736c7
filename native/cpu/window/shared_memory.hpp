#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/memory.hpp"

namespace foldstep::cpu {

/// The directory that shared memory comes from: FOLDSTEP_SHM_DIR, or /dev/shm.
std::string shared_memory_directory();

/// Bytes of the file system behind shared_memory_directory().
struct SharedMemorySpace {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};
SharedMemorySpace shared_memory_space();

/// Where other processes of this host find a segment while its creator keeps the descriptor. Plain bytes.
struct SegmentAddress {
  pid_t pid = 0;
  int descriptor = -1;
  uid_t owner = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
};

/// Memory that several processes map. It lives in a file that never has a name, so nothing is left behind,
/// however a process ends, and no left-over can be taken for it.
class SharedSegment final : public Memory {
 public:
  /// Zeroed. Every page is there from the start: a full file system is an error here and not a signal later.
  /// Errors: Code::SharedMemoryTooSmall, SharedMemoryUnavailable, OutOfMemory.
  static std::shared_ptr<SharedSegment> create(std::size_t bytes);
  /// Another process's. Errors: Code::SharedMemoryUnavailable, OutOfMemory.
  static std::shared_ptr<SharedSegment> attach(const SegmentAddress& address);

  SharedSegment(void* mapping, std::size_t bytes, int descriptor);
  ~SharedSegment() override;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  std::byte* data() const override { return data_; }
  std::size_t bytes() const override { return bytes_; }

  SegmentAddress address() const;
  /// Nobody can attach from here on.
  void close_descriptor();

 private:
  std::byte* data_;
  std::size_t bytes_;
  int descriptor_;
};

}  // namespace foldstep::cpu
