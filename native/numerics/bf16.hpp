#pragma once

#include <cstdint>

#include "numerics/bits.hpp"

namespace foldstep::numerics {

FOLDSTEP_HD float bf16_to_f32(std::uint16_t x) {
  return float_of(static_cast<std::uint32_t>(x) << 16);
}

/// Round to nearest, ties to even. A NaN stays one: it keeps its sign and the upper bits of its payload and
/// becomes quiet; the rounding's carry cannot reach it.
FOLDSTEP_HD std::uint16_t f32_to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t upper = bits >> 16;
  const std::uint32_t rounded = (bits + 0x7fffU + (upper & 1U)) >> 16;
  return static_cast<std::uint16_t>(magnitude_bits(x) > infinity_bits ? upper | 0x40U : rounded);
}

FOLDSTEP_HD float round_to_bf16(float x) {
  return bf16_to_f32(f32_to_bf16(x));
}

}  // namespace foldstep::numerics
