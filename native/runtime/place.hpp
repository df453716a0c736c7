#pragma once

#include <cstddef>
#include <cstdint>

namespace foldstep {

/// An address that may be known on the device alone: `base` plus, if there is one, `*offset` bytes.
struct Place {
  std::byte* base = nullptr;
  const std::uint64_t* offset = nullptr;  ///< in the device's memory
};

}  // namespace foldstep
