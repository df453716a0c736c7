#pragma once

#include <cstddef>
#include <cstdint>

namespace foldstep {

/// An address that only the device may know. It is `base`, or `*offset` bytes after it if `offset` is not
/// null.
struct Place {
  std::byte* base = nullptr;
  const std::uint64_t* offset = nullptr;  ///< in the device's memory
};

}  // namespace foldstep
