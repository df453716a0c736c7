#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>

namespace foldstep {

/// A block of a device's memory. Who needs it alive holds the shared_ptr: operations in flight do.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Address on the device.
  virtual std::byte* data() const = 0;
  virtual std::size_t bytes() const = 0;
  /// Whether this process's processors may read and write at `data()`.
  virtual bool host_accessible() const { return true; }
  /// Copies out of and into the block, as streams have left it; blocks until it is done.
  virtual void read(std::size_t offset, void* target, std::size_t count) const {
    std::memcpy(target, data() + offset, count);
  }
  virtual void write(std::size_t offset, const void* source, std::size_t count) {
    std::memcpy(data() + offset, source, count);
  }
};

/// A run of a block.
struct Span {
  std::shared_ptr<Memory> memory;
  std::size_t offset = 0;                                       ///< bytes
  std::size_t bytes = std::numeric_limits<std::size_t>::max();  ///< at most; the block may end before

  /// Bytes that may be used from `offset` on.
  std::size_t room() const {
    const std::size_t there = memory ? memory->bytes() : 0;
    return offset > there ? 0 : std::min(bytes, there - offset);
  }

  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(memory->data() + offset);
  }
};

}  // namespace foldstep
