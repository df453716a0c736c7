#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/dtype.hpp"

/// What the fused passes must give, one element at a time and apart from native/numerics.
namespace foldstep::test {

inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

/// Of finite values. Round to nearest even.
inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t low = bits & 0xffffU;
  std::uint32_t high = bits >> 16;
  if (low > 0x8000U || (low == 0x8000U && (high & 1U) != 0)) ++high;
  return static_cast<std::uint16_t>(high);
}

/// A value in (-2, 2) that BF16 holds if it is made for it, the same wherever it is asked for.
inline float made_up(std::uint64_t salt, std::size_t element, DType type) {
  std::uint64_t h = (salt << 40) ^ element;
  h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15U;
  h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9U;
  h ^= h >> 32;
  const float value = static_cast<float>(static_cast<std::int32_t>(h)) * 0x1p-30F;
  return type == DType::BF16 ? from_bf16(to_bf16(value)) : value;
}

inline float load(const std::byte* data, std::size_t i, DType type) {
  if (type == DType::BF16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
    return from_bf16(bits);
  }
  float value = 0;
  std::memcpy(&value, data + i * sizeof value, sizeof value);
  return value;
}

inline void store(std::byte* data, std::size_t i, float value, DType type) {
  if (type == DType::BF16) {
    const std::uint16_t bits = to_bf16(value);
    std::memcpy(data + i * sizeof bits, &bits, sizeof bits);
  } else {
    std::memcpy(data + i * sizeof value, &value, sizeof value);
  }
}

inline float rounded(float value, DType type) {
  return type == DType::BF16 ? from_bf16(to_bf16(value)) : value;
}

/// x_0 + x_1 + ..., in order, of what made_up gives with salts `salt`, `salt` + 1, ...
inline float ordered_sum(std::uint64_t salt, int members, std::size_t element, DType type) {
  float sum = made_up(salt, element, type);
  for (int m = 1; m < members; ++m) sum += made_up(salt + static_cast<std::uint64_t>(m), element, type);
  return sum;
}

inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace foldstep::test
