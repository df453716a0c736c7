#pragma once

#include <cstdint>

/// Marks a scalar definition that host and device code share. On the host it is always inlined: these headers
/// are compiled under several instruction sets, and an out-of-line copy made by one of them could be the one
/// that the linker keeps for all.
#if defined(__CUDACC__)
#define FOLDSTEP_HD __host__ __device__ __forceinline__
#else
#define FOLDSTEP_HD [[gnu::always_inline]] inline
#endif

namespace foldstep::numerics {

FOLDSTEP_HD std::uint32_t bits_of(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}

FOLDSTEP_HD float float_of(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

/// The bits of |x|. As integers they are ordered like the magnitudes, and all NaNs are above infinity.
/// Signed, because that is what every vector unit can compare.
FOLDSTEP_HD std::int32_t magnitude_bits(float x) {
  return static_cast<std::int32_t>(bits_of(x) & 0x7fff'ffffU);
}

constexpr std::int32_t infinity_bits = 0x7f80'0000;

/// x, or the one quiet NaN if x is a NaN. Which operand's payload survives an addition depends on the
/// operands' order, which compilers may swap, and on the processor: the results of arithmetic are therefore
/// stored through this.
FOLDSTEP_HD float with_one_nan(float x) {
  // On integers: from a comparison of floats GCC 12 makes masked stores, at half the speed of an update.
  return float_of(magnitude_bits(x) > infinity_bits ? 0x7fc0'0000U : bits_of(x));
}

}  // namespace foldstep::numerics
