#pragma once

#include <cstddef>

namespace foldstep::cpu {

/// Bytes that processors hand to each other at once: what two of them write is kept this far apart.
constexpr std::size_t cache_line = 64;

}  // namespace foldstep::cpu
