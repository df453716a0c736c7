#pragma once

#include "cpu/kernels/elements.hpp"
#include "cpu/kernels/kernel_table.hpp"
#include "numerics/norm.hpp"

namespace foldstep::cpu {
namespace {

std::int32_t largest_magnitude_bits(const void* source, std::size_t n) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t bits = numerics::magnitude_bits(F32::load(source, i));
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

/// The sum of term(x) over the block, in the interleaved order of numerics/norm.hpp.
template <typename Term>
NormBlock sum_terms(const void* source, std::size_t n, Term term) {
  double sums[numerics::norm_columns] = {};
  std::int32_t largest[numerics::norm_columns] = {};
  const auto add = [&](std::size_t at, int count) __attribute__((always_inline)) {
    for (int column = 0; column < count; ++column) {
      const float x = F32::load(source, at + static_cast<std::size_t>(column));
      const std::int32_t bits = numerics::magnitude_bits(x);
      largest[column] = bits > largest[column] ? bits : largest[column];
      sums[column] = sums[column] + term(x);
    }
  };
  std::size_t at = 0;
  for (; n - at >= numerics::norm_columns; at += numerics::norm_columns) add(at, numerics::norm_columns);
  add(at, static_cast<int>(n - at));

  bool finite = true;
  for (const std::int32_t bits : largest) finite = finite && bits < numerics::infinity_bits;
  return {numerics::fold_columns(sums), finite};
}

[[gnu::noinline]] NormBlock norm_block(const float* source, std::size_t n, NormKind kind, double p,
                                       double power_scale) {
  switch (kind) {
    case NormKind::One:
      return sum_terms(source, n, [](float x) { return numerics::magnitude(x); });
    case NormKind::Two:
      return sum_terms(source, n, [](float x) { return numerics::square(x); });
    case NormKind::Power: {
      const auto exponent = static_cast<std::uint32_t>(p);
      if (static_cast<double>(exponent) == p) {
        return sum_terms(source, n, [=](float x) {
          return numerics::integral_power(numerics::magnitude(x) * power_scale, exponent);
        });
      }
      return sum_terms(source, n,
                       [=](float x) { return numerics::power(numerics::magnitude(x) * power_scale, p); });
    }
    case NormKind::Infinity:
      break;
  }
  const std::int32_t largest = largest_magnitude_bits(source, n);
  return {numerics::magnitude(numerics::float_of(static_cast<std::uint32_t>(largest))),
          largest < numerics::infinity_bits};
}

}  // namespace
}  // namespace foldstep::cpu
