#pragma once

#include <cstddef>
#include <cstdint>

#include "numerics/norm.hpp"

/// From every rank's part of a norm to the norm, the clip coefficients and whether the step is skipped: few
/// numbers, in an order that does not depend on who does it.
namespace foldstep::numerics {

/// What one rank contributes to the norm: `groups` FP64 sums (or maxima), then 1 + the index of the first
/// parameter with a non-finite element, or 0.
FOLDSTEP_HD constexpr std::size_t partials_length(std::uint32_t groups) {
  return groups + std::size_t{1};
}

/// The result of a norm, FP64: the global norm; the group norms; the clip coefficient of each group; 1 if the
/// step is to be skipped, else 0; and 1 + the lowest rank with a non-finite element and 1 + its first such
/// parameter, or 0 and 0.
struct NormScalars {
  std::uint32_t groups;
  static constexpr std::size_t norm = 0;
  FOLDSTEP_HD constexpr std::size_t group_norm(std::uint32_t g) const { return 1 + std::size_t{g}; }
  FOLDSTEP_HD constexpr std::size_t coefficient(std::uint32_t g) const { return 1 + std::size_t{groups} + g; }
  FOLDSTEP_HD constexpr std::size_t skip() const { return 1 + 2 * std::size_t{groups}; }
  FOLDSTEP_HD constexpr std::size_t rank() const { return 2 + 2 * std::size_t{groups}; }
  FOLDSTEP_HD constexpr std::size_t parameter() const { return 3 + 2 * std::size_t{groups}; }
  FOLDSTEP_HD constexpr std::size_t length() const { return 4 + 2 * std::size_t{groups}; }
};

struct FinishNorm {
  NormKind kind = NormKind::Two;
  double p = 2;
  std::uint32_t groups = 1;
  int ranks = 1;
  double max_norm = 0;                      ///< of the whole gradient; 0: not clipped
  const double* group_max_norms = nullptr;  ///< each group's own; 0, or none at all: clipped with the whole
};

FOLDSTEP_HD bool is_finite(double x) {
  return x - x == 0;
}

FOLDSTEP_HD double norm_of(const FinishNorm& request, double total, double power_scale) {
  if (request.kind == NormKind::Two) return sqrt(total);
  if (request.kind == NormKind::Power) return pow(total, 1 / request.p) / power_scale;
  return total;
}

/// The power of two that elements are multiplied with before they are taken to a power: the largest is then
/// in [0.5, 1). 1 if it is 0 or not finite. From every rank's partials of Infinity, in rank order.
FOLDSTEP_HD double find_power_scale(const double* gathered, std::uint32_t groups, int ranks) {
  double largest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double* const partials = gathered + static_cast<std::size_t>(rank) * partials_length(groups);
    for (std::uint32_t g = 0; g < groups; ++g) largest = combine(NormKind::Infinity, largest, partials[g]);
  }
  if (largest == 0 || !is_finite(largest)) return 1;
  int exponent = 0;
  frexp(largest, &exponent);
  return ldexp(1.0, -exponent);
}

/// NormScalars from every rank's partials, in rank order. `power_scale` is read for Power alone.
FOLDSTEP_HD void finish_norm(const FinishNorm& request, const double* gathered, double power_scale,
                             double* scalars) {
  const NormScalars at{request.groups};
  for (std::size_t i = 0; i < at.length(); ++i) scalars[i] = 0;

  const std::size_t stride = partials_length(request.groups);
  double total = 0;
  for (std::uint32_t g = 0; g < request.groups; ++g) {
    double group_total = 0;
    for (int rank = 0; rank < request.ranks; ++rank) {
      group_total = combine(request.kind, group_total, gathered[static_cast<std::size_t>(rank) * stride + g]);
    }
    total = combine(request.kind, total, group_total);
    scalars[at.group_norm(g)] = norm_of(request, group_total, power_scale);
  }
  const double norm = norm_of(request, total, power_scale);
  scalars[NormScalars::norm] = norm;

  for (int rank = 0; rank < request.ranks && scalars[at.rank()] == 0; ++rank) {
    const double parameter = gathered[static_cast<std::size_t>(rank) * stride + request.groups];
    if (parameter == 0) continue;
    scalars[at.rank()] = rank + 1.0;
    scalars[at.parameter()] = parameter;
  }
  if (scalars[at.rank()] != 0 || !is_finite(norm)) {
    scalars[at.skip()] = 1;
    return;  // with coefficients of 0
  }
  for (std::uint32_t g = 0; g < request.groups; ++g) {
    const double own = request.group_max_norms == nullptr ? 0 : request.group_max_norms[g];
    scalars[at.coefficient(g)] =
        own > 0 ? clip_coefficient(scalars[at.group_norm(g)], own) : clip_coefficient(norm, request.max_norm);
  }
}

}  // namespace foldstep::numerics
