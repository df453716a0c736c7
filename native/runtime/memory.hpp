#pragma once

#include <cstddef>
#include <memory>

namespace foldstep {

/// A block of a device's memory. Who needs it alive holds the shared_ptr: operations in flight do.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::byte* data() const = 0;
  virtual std::size_t bytes() const = 0;
};

/// A place in a block.
struct Span {
  std::shared_ptr<Memory> memory;
  std::size_t offset = 0;  ///< bytes

  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(memory->data() + offset);
  }
};

}  // namespace foldstep
