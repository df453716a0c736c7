#include "cpu/kernels/norm_pass.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cpu/kernels/fp_mode.hpp"
#include "numerics/norm.hpp"

namespace foldstep::cpu {
namespace {

double combine(NormKind kind, double a, double b) {
  if (kind == NormKind::Infinity) return b > a ? b : a;
  return a + b;
}

double norm_of(const FinishNorm& request, double total, double power_scale) {
  switch (request.kind) {
    case NormKind::Two:
      return std::sqrt(total);
    case NormKind::Power:
      return std::pow(total, 1 / request.p) / power_scale;
    case NormKind::One:
    case NormKind::Infinity:
      break;
  }
  return total;
}

/// Blocks of several segments, computed in parallel and added to the partials in order. Its size bounds the
/// memory.
class BlockBatch {
 public:
  BlockBatch(Threads& threads, const KernelTable& table, NormKind kind, double p, double power_scale,
             double* partials, double& first_non_finite)
      : threads_(threads),
        table_(table),
        kind_(kind),
        p_(p),
        power_scale_(power_scale),
        partials_(partials),
        first_non_finite_(first_non_finite) {}

  void add(const NormSegment& segment, const float* at, std::size_t n) {
    if (count_ == blocks_.size()) flush();
    blocks_[count_++] = {&segment, at, n, {}};
  }

  void flush() {
    constexpr std::size_t grain = 4;
    threads_.parallel_for(count_, grain, [this](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        Block& block = blocks_[i];
        const NormKind kind = block.segment->counted ? kind_ : NormKind::Infinity;
        block.result = table_.norm_block(block.at, block.n, kind, p_, power_scale_);
      }
    });
    for (std::size_t i = 0; i < count_; ++i) {
      const Block& block = blocks_[i];
      double& partial = partials_[block.segment->group];
      if (block.segment->counted) partial = combine(kind_, partial, block.result.value);
      if (block.result.finite) continue;
      const double parameter = block.segment->parameter + 1.0;
      if (first_non_finite_ == 0 || parameter < first_non_finite_) first_non_finite_ = parameter;
    }
    count_ = 0;
  }

 private:
  struct Block {
    const NormSegment* segment;
    const float* at;
    std::size_t n;
    NormBlock result;
  };

  Threads& threads_;
  const KernelTable& table_;
  NormKind kind_;
  double p_;
  double power_scale_;
  double* partials_;
  double& first_non_finite_;
  std::array<Block, 512> blocks_;
  std::size_t count_ = 0;
};

}  // namespace

void find_norm_partials(Threads& threads, const KernelTable& table, const NormPlan& plan, NormKind kind,
                        double p, const float* arena, double power_scale, double* partials) {
  const FpMode mode;
  std::fill_n(partials, partials_length(plan.groups), 0.0);
  BlockBatch batch(threads, table, kind, p, power_scale, partials, partials[plan.groups]);
  for (const NormSegment& segment : plan.segments) {
    for (std::size_t at = 0; at < segment.length; at += norm_block_size) {
      batch.add(segment, arena + segment.offset + at, std::min(norm_block_size, segment.length - at));
    }
  }
  batch.flush();
}

double find_power_scale(const double* gathered, std::uint32_t groups, int ranks) {
  const FpMode mode;
  double largest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double* const partials = gathered + static_cast<std::size_t>(rank) * partials_length(groups);
    for (std::uint32_t g = 0; g < groups; ++g) largest = combine(NormKind::Infinity, largest, partials[g]);
  }
  if (largest == 0 || !std::isfinite(largest)) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, -exponent);
}

void finish_norm(const FinishNorm& request, const double* gathered, double power_scale, double* scalars) {
  const FpMode mode;
  const NormScalars at{request.groups};
  std::fill_n(scalars, at.length(), 0.0);

  double total = 0;
  for (std::uint32_t g = 0; g < request.groups; ++g) {
    double group_total = 0;
    for (int rank = 0; rank < request.ranks; ++rank) {
      const double* const partials =
          gathered + static_cast<std::size_t>(rank) * partials_length(request.groups);
      group_total = combine(request.kind, group_total, partials[g]);
    }
    total = combine(request.kind, total, group_total);
    scalars[at.group_norm(g)] = norm_of(request, group_total, power_scale);
  }
  const double norm = scalars[NormScalars::norm] = norm_of(request, total, power_scale);

  for (int rank = 0; rank < request.ranks && scalars[at.rank()] == 0; ++rank) {
    const double parameter =
        gathered[static_cast<std::size_t>(rank) * partials_length(request.groups) + request.groups];
    if (parameter == 0) continue;
    scalars[at.rank()] = rank + 1.0;
    scalars[at.parameter()] = parameter;
  }
  if (scalars[at.rank()] != 0 || !std::isfinite(norm)) {
    scalars[at.skip()] = 1;
    return;  // with coefficients of 0
  }
  for (std::uint32_t g = 0; g < request.groups; ++g) {
    const double own = request.group_max_norms.empty() ? 0 : request.group_max_norms[g];
    scalars[at.coefficient(g)] = own > 0 ? numerics::clip_coefficient(scalars[at.group_norm(g)], own)
                                         : numerics::clip_coefficient(norm, request.max_norm);
  }
}

}  // namespace foldstep::cpu
