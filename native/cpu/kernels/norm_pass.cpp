#include "cpu/kernels/norm_pass.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/kernels/fp_mode.hpp"
#include "numerics/norm.hpp"

namespace foldstep::cpu {
namespace {

/// Blocks of several segments, computed in parallel and combined in order. Its size bounds the memory.
class BlockBatch {
 public:
  BlockBatch(Threads& threads, const KernelTable& table, NormKind kind, double p, double power_scale,
             std::uint32_t groups)
      : threads_(threads),
        table_(table),
        kind_(kind),
        p_(p),
        power_scale_(power_scale),
        sums_(std::size_t{groups} * numerics::group_columns) {}

  void add(const NormSegment& segment, const float* at, std::size_t n) {
    if (count_ == blocks_.size()) compute();
    blocks_[count_++] = {&segment, at, n, {}};
  }

  /// Of everything that was added, into `partials`.
  void finish(double* partials) {
    compute();
    const std::size_t groups = sums_.size() / numerics::group_columns;
    for (std::size_t g = 0; g < groups; ++g) {
      double* const sums = sums_.data() + g * numerics::group_columns;
      for (int half = numerics::group_columns / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) sums[i] = numerics::combine(kind_, sums[i], sums[i + half]);
      }
      partials[g] = sums[0];
    }
    partials[groups] = first_non_finite_;
  }

 private:
  void compute() {
    constexpr std::size_t grain = 8;
    threads_.parallel_for(count_, grain, [this](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        Block& block = blocks_[i];
        const NormKind kind = block.segment->counted ? kind_ : NormKind::Infinity;
        block.result = table_.norm_block(block.at, block.n, kind, p_, power_scale_);
      }
    });
    for (std::size_t i = 0; i < count_; ++i) {
      const Block& block = blocks_[i];
      const std::size_t column = (done_ + i) % numerics::group_columns;
      double& sum = sums_[block.segment->group * std::size_t{numerics::group_columns} + column];
      if (block.segment->counted) sum = numerics::combine(kind_, sum, block.result.value);
      if (block.result.finite) continue;
      const double parameter = block.segment->parameter + 1.0;
      if (first_non_finite_ == 0 || parameter < first_non_finite_) first_non_finite_ = parameter;
    }
    done_ += count_;
    count_ = 0;
  }

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
  std::vector<double> sums_;     // group_columns of each group
  double first_non_finite_ = 0;  // 1 + parameter
  std::array<Block, 1024> blocks_;
  std::size_t count_ = 0;  // in `blocks_`
  std::size_t done_ = 0;   // before those
};

}  // namespace

void find_norm_partials(Threads& threads, const KernelTable& table, const NormPlan& plan, NormKind kind,
                        double p, const float* arena, double power_scale, double* partials) {
  const FpMode mode;
  BlockBatch batch(threads, table, kind, p, power_scale, plan.groups);
  for (const NormSegment& segment : plan.segments) {
    for (std::size_t at = 0; at < segment.length; at += norm_block_size) {
      batch.add(segment, arena + segment.offset + at, std::min(norm_block_size, segment.length - at));
    }
  }
  batch.finish(partials);
}

double find_power_scale(const double* gathered, std::uint32_t groups, int ranks) {
  const FpMode mode;
  return numerics::find_power_scale(gathered, groups, ranks);
}

void finish_norm(const FinishNorm& request, const double* gathered, double power_scale, double* scalars) {
  const FpMode mode;
  const numerics::FinishNorm plain{
      .kind = request.kind,
      .p = request.p,
      .groups = request.groups,
      .ranks = request.ranks,
      .max_norm = request.max_norm,
      .group_max_norms = request.group_max_norms.empty() ? nullptr : request.group_max_norms.data()};
  numerics::finish_norm(plain, gathered, power_scale, scalars);
}

}  // namespace foldstep::cpu
