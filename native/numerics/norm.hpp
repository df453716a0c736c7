#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "numerics/bits.hpp"

/// The terms of a norm in FP64. Squares of FP32 values are exact there and neither overflow nor vanish.
namespace foldstep::numerics {

/// Which norm: p = 1, p = 2, any other p >= 1, or the maximum.
enum class NormKind : std::uint8_t { One = 0, Two = 1, Power = 2, Infinity = 3 };

/// Norm sums are formed in blocks of this many elements, counted from the start of a segment. Element i of a
/// block goes to the block's sum i % norm_columns; block j of a rank's plan goes to its group's sum
/// j % group_columns; both are folded as a fixed tree. That makes a norm's bits independent of threads and
/// vector width.
constexpr std::size_t norm_block_size = 8192;
constexpr int norm_columns = 32;
constexpr int group_columns = 256;

/// Powers of `power` are taken for exponents up to this one: 0.5^1000 is still a normal FP64 number.
constexpr double largest_power = 1000;

FOLDSTEP_HD double magnitude(float x) {
  return static_cast<double>(float_of(static_cast<std::uint32_t>(magnitude_bits(x))));
}

FOLDSTEP_HD double square(float x) {
  return static_cast<double>(x) * static_cast<double>(x);
}

/// base^exponent, exponent <= 1023, by squaring: the same bits everywhere, which a library's pow does not
/// promise. The number of rounds is fixed so that loops over elements vectorise.
FOLDSTEP_HD double integral_power(double base, std::uint32_t exponent) {
  double result = 1;
  for (int bit = 0; bit < 10; ++bit) {
    result = (exponent >> bit & 1U) != 0 ? result * base : result;
    base = base * base;
  }
  return result;
}

FOLDSTEP_HD double power(double base, double exponent) {
  return pow(base, exponent);
}

/// The sum of `norm_columns` sums as a fixed tree. Overwrites them.
FOLDSTEP_HD double fold_columns(double* sums) {
  for (int half = norm_columns / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
  }
  return sums[0];
}

/// Of two parts of a norm. The maximum of a NaN and anything else is NaN, as a sum of them is.
FOLDSTEP_HD double combine(NormKind kind, double a, double b) {
  if (kind == NormKind::Infinity) return b > a || b != b ? b : a;
  return a + b;
}

/// min(1, max_norm / (norm + 1e-6)); 1 where nothing is to be clipped: max_norm 0 or norm 0.
FOLDSTEP_HD double clip_coefficient(double norm, double max_norm) {
  if (max_norm == 0 || norm == 0) return 1;
  const double coefficient = max_norm / (norm + 1e-6);
  return coefficient < 1 ? coefficient : 1;
}

}  // namespace foldstep::numerics
