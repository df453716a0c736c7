#pragma once

#include <cstddef>

namespace foldstep::cpu {

/// Whether every byte of the range is mapped in this process; not whether it may be read or written. Costs a
/// system call, however long the range is.
bool is_mapped(const std::byte* address, std::size_t bytes);

}  // namespace foldstep::cpu
