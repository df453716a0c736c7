#include "cuda/device/device.cuh"
#include "cuda/kernels/kernels.hpp"
#include "cuda/kernels/launch.cuh"
#include "numerics/norm.hpp"
#include "numerics/norm_finish.hpp"

namespace foldstep::cuda {

namespace {

constexpr int columns = numerics::norm_columns;
/// Columns of a norm block that one thread sums: 16 bytes of every row.
constexpr int thread_columns = 4;
constexpr int team_threads = columns / thread_columns;
constexpr int warp_teams = warp_threads / team_threads;

/// What an element contributes to a norm.
enum class Term { One, Two, IntegralPower, Power, Infinity };

struct Exponent {
  double p;
  double power_scale;
};

template <Term term>
FOLDSTEP_DEVICE double term_of(float x, const Exponent& exponent) {
  if constexpr (term == Term::One) return numerics::magnitude(x);
  if constexpr (term == Term::Two) return numerics::square(x);
  if constexpr (term == Term::IntegralPower) {
    return numerics::integral_power(numerics::magnitude(x) * exponent.power_scale,
                                    static_cast<std::uint32_t>(exponent.p));
  }
  return numerics::power(numerics::magnitude(x) * exponent.power_scale, exponent.p);
}

/// What a thread knows of a block: the sums of its columns, and the largest magnitude in them.
struct Partial {
  double sums[thread_columns] = {};
  std::int32_t largest = 0;

  template <Term term>
  FOLDSTEP_DEVICE void add(int column, float x, bool counted, const Exponent& exponent) {
    const std::int32_t bits = numerics::magnitude_bits(x);
    largest = bits > largest ? bits : largest;
    if constexpr (term != Term::Infinity) {
      if (counted) sums[column] = sums[column] + term_of<term>(x, exponent);
    }
  }
};

struct Row {
  float x[thread_columns];
};

template <bool Aligned>
FOLDSTEP_DEVICE Row load_row(const float* at) {
  Row row;
  if constexpr (Aligned) {
    const Vector v = load_vector(at);
    FOLDSTEP_UNROLL(thread_columns)
    for (int k = 0; k < thread_columns; ++k) row.x[k] = numerics::float_of(v.word[k]);
  } else {
    FOLDSTEP_UNROLL(thread_columns)
    for (int k = 0; k < thread_columns; ++k) row.x[k] = at[k];
  }
  return row;
}

/// The block's full rows, of which `own` is this thread's part of the first. Some are loaded while those
/// before them are added.
template <Term term, bool Aligned>
FOLDSTEP_DEVICE void add_rows(const float* own, std::uint32_t rows, bool counted, const Exponent& exponent,
                              Partial& partial) {
  constexpr std::uint32_t together = term == Term::Power || term == Term::IntegralPower ? 1 : 4;
  const auto add = [&](const Row& row) {
    FOLDSTEP_UNROLL(thread_columns)
    for (int k = 0; k < thread_columns; ++k) partial.template add<term>(k, row.x[k], counted, exponent);
  };
  const auto load = [&](Row(&group)[together], std::uint32_t first) {
    FOLDSTEP_UNROLL(together)
    for (std::uint32_t r = 0; r < together; ++r) group[r] = load_row<Aligned>(own + (first + r) * columns);
  };
  const std::uint32_t grouped = rows / together * together;
  Row next[together] = {};
  if (grouped > 0) load(next, 0);
  FOLDSTEP_UNROLL(1)
  for (std::uint32_t first = 0; first < grouped; first += together) {
    Row current[together];
    FOLDSTEP_UNROLL(together)
    for (std::uint32_t r = 0; r < together; ++r) current[r] = next[r];
    if (first + together < grouped) load(next, first + together);
    FOLDSTEP_UNROLL(together)
    for (std::uint32_t r = 0; r < together; ++r) add(current[r]);
  }
  FOLDSTEP_UNROLL(1)
  for (std::uint32_t row = grouped; row < rows; ++row) add(load_row<Aligned>(own + row * columns));
}

template <Term term>
FOLDSTEP_DEVICE Partial partial_of(const float* block, std::uint32_t length, bool counted,
                                   const Exponent& exponent, int team_thread) {
  Partial partial;
  const float* const own = block + thread_columns * team_thread;
  const std::uint32_t rows = length / columns;
  if (reinterpret_cast<std::uintptr_t>(own) % 16 == 0) {
    add_rows<term, true>(own, rows, counted, exponent, partial);
  } else {
    add_rows<term, false>(own, rows, counted, exponent, partial);
  }
  const auto rest = static_cast<int>(length % columns) - thread_columns * team_thread;
  FOLDSTEP_UNROLL(thread_columns)
  for (int k = 0; k < thread_columns; ++k) {
    if (k < rest)
      partial.template add<term>(k, own[rows * columns + static_cast<unsigned>(k)], counted, exponent);
  }
  return partial;
}

/// Over the threads of a team, in the order of numerics::fold_columns.
FOLDSTEP_DEVICE double fold_team(Partial& partial) {
  double(&sums)[thread_columns] = partial.sums;
  FOLDSTEP_UNROLL(3)
  for (int half = team_threads / 2; half > 0; half /= 2) {
    FOLDSTEP_UNROLL(thread_columns)
    for (int k = 0; k < thread_columns; ++k) sums[k] = sums[k] + warp_exchange(sums[k], half);
    const std::int32_t other = warp_exchange(partial.largest, half);
    partial.largest = other > partial.largest ? other : partial.largest;
  }
  static_assert(thread_columns == 4);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/// A team of threads a block.
template <Term term>
FOLDSTEP_KERNEL(block_threads, resident_blocks)
norm_blocks_kernel(DeviceNormPlan plan, double p, const double* power_scale, const float* arena,
                   const Status* status) {
  if (block_has_failed(status)) return;
  constexpr bool powers = term == Term::IntegralPower || term == Term::Power;
  const Exponent exponent{p, powers ? *power_scale : 1};
  const auto column = static_cast<int>(thread_index() % warp_threads);
  constexpr std::uint32_t block_teams = block_threads / team_threads;
  // Whole warps go on together, since all of their threads take part in an exchange.
  for (std::uint64_t first = std::uint64_t{block_index()} * block_teams +
                             thread_index() / warp_threads * std::uint64_t{warp_teams};
       first < plan.count; first += std::uint64_t{block_count()} * block_teams) {
    const std::uint64_t index = first + static_cast<unsigned>(column / team_threads);
    const bool exists = index < plan.count;
    Partial partial;
    if (exists) {
      const NormBlock block = plan.blocks[index];
      partial = partial_of<term>(arena + block.offset, block.length, block.counted != 0, exponent,
                                 column % team_threads);
    }
    const double sum = fold_team(partial);
    if (!exists || column % team_threads != 0) continue;
    const double largest =
        numerics::magnitude(numerics::float_of(static_cast<std::uint32_t>(partial.largest)));
    plan.results[index] = {term == Term::Infinity ? largest : sum,
                           partial.largest < numerics::infinity_bits ? 1U : 0U};
  }
}

constexpr int group_columns = numerics::group_columns;

/// Calls visit(block, result) with every 256th block from block `column` on, in order; several are loaded
/// together.
template <typename Visit>
FOLDSTEP_DEVICE void for_blocks_of(const DeviceNormPlan& plan, int column, const Visit& visit) {
  constexpr int together = 4;
  for (auto first = static_cast<std::uint64_t>(column); first < plan.count;
       first += together * group_columns) {
    NormBlock blocks[together];
    NormBlockResult results[together];
    FOLDSTEP_UNROLL(together)
    for (int k = 0; k < together; ++k) {
      const std::uint64_t wanted = first + static_cast<unsigned>(k * group_columns);
      const std::uint64_t i = wanted < plan.count ? wanted : first;
      blocks[k] = plan.blocks[i];
      results[k] = plan.results[i];
    }
    FOLDSTEP_UNROLL(together)
    for (int k = 0; k < together; ++k) {
      if (first + static_cast<unsigned>(k * group_columns) < plan.count) visit(blocks[k], results[k]);
    }
  }
}

/// The block's threads fold `values` as a fixed tree; afterwards values[0] is the result.
template <typename Combine>
FOLDSTEP_DEVICE void fold_block(double* values, const Combine& combine) {
  for (int half = group_columns / 2; half > 0; half /= 2) {
    block_barrier();
    for (auto i = static_cast<int>(thread_index()); i < half; i += block_threads) {
      values[i] = combine(values[i], values[i + half]);
    }
  }
  block_barrier();
}

/// Of the blocks of one group, as numerics/norm.hpp has it.
FOLDSTEP_DEVICE void find_group_partial(const DeviceNormPlan& plan, NormKind kind, std::uint32_t group,
                                        double* sums) {
  for (auto column = static_cast<int>(thread_index()); column < group_columns; column += block_threads) {
    double sum = 0;
    for_blocks_of(plan, column, [&](const NormBlock& block, const NormBlockResult& result) {
      if (block.group == group && block.counted != 0) sum = numerics::combine(kind, sum, result.value);
    });
    sums[column] = sum;
  }
  fold_block(sums, [kind](double a, double b) { return numerics::combine(kind, a, b); });
}

/// 1 + the first parameter with an element that is not finite, or 0.
FOLDSTEP_DEVICE void find_first_non_finite(const DeviceNormPlan& plan, double* firsts) {
  for (auto column = static_cast<int>(thread_index()); column < group_columns; column += block_threads) {
    double first = 0;
    for_blocks_of(plan, column, [&](const NormBlock& block, const NormBlockResult& result) {
      const double parameter = block.parameter + 1.0;
      if (result.finite == 0 && (first == 0 || parameter < first)) first = parameter;
    });
    firsts[column] = first;
  }
  fold_block(firsts, [](double a, double b) { return a == 0 || (b != 0 && b < a) ? b : a; });
}

/// A block of threads a group, and one more for what is not finite.
FOLDSTEP_KERNEL(block_threads, resident_blocks)
norm_groups_kernel(DeviceNormPlan plan, NormKind kind, double* partials, const Status* status) {
  if (block_has_failed(status)) return;
  FOLDSTEP_SHARED(double, values, group_columns);
  for (std::uint32_t group = block_index(); group <= plan.groups; group += block_count()) {
    if (group < plan.groups) {
      find_group_partial(plan, kind, group, values);
    } else {
      find_first_non_finite(plan, values);
    }
    if (thread_index() == 0) partials[group] = values[0];
    block_barrier();  // until it has been read
  }
}

FOLDSTEP_KERNEL(block_threads, resident_blocks)
power_scale_kernel(const double* gathered, std::uint32_t groups, int ranks, double* scale,
                   const Status* status) {
  if (has_failed(status) || thread_index() != 0) return;
  *scale = numerics::find_power_scale(gathered, groups, ranks);
}

FOLDSTEP_KERNEL(block_threads, resident_blocks)
finish_norm_kernel(FOLDSTEP_PARAMETER numerics::FinishNorm request, const double* gathered,
                   const double* power_scale, double* scalars, const Status* status) {
  if (has_failed(status) || thread_index() != 0) return;
  numerics::finish_norm(request, gathered, request.kind == NormKind::Power ? *power_scale : 1, scalars);
}

template <Term term>
void start_norm_blocks(const Launch& launch, const DeviceNormPlan& plan, double p, const float* arena,
                       const double* power_scale) {
  if (plan.count == 0) return;
  start_or_throw("norm_blocks", norm_blocks_kernel<term>, launch,
                 blocks_for(launch, std::size_t{plan.count} * team_threads), plan, p, power_scale, arena);
}

}  // namespace

void norm_partials(const Launch& launch, const DeviceNormPlan& plan, NormKind kind, double p,
                   const float* arena, const double* power_scale, double* partials) {
  switch (kind) {
    case NormKind::One:
      start_norm_blocks<Term::One>(launch, plan, p, arena, power_scale);
      break;
    case NormKind::Two:
      start_norm_blocks<Term::Two>(launch, plan, p, arena, power_scale);
      break;
    case NormKind::Power:
      if (static_cast<double>(static_cast<std::uint32_t>(p)) == p) {
        start_norm_blocks<Term::IntegralPower>(launch, plan, p, arena, power_scale);
      } else {
        start_norm_blocks<Term::Power>(launch, plan, p, arena, power_scale);
      }
      break;
    case NormKind::Infinity:
      start_norm_blocks<Term::Infinity>(launch, plan, p, arena, power_scale);
      break;
  }
  start_or_throw("norm_groups", norm_groups_kernel, launch,
                 blocks_for(launch, (std::size_t{plan.groups} + 1) * block_threads), plan, kind, partials);
}

void power_scale(const Launch& launch, const double* gathered, std::uint32_t groups, int ranks,
                 double* scale) {
  start_or_throw("power_scale", power_scale_kernel, launch, 1, gathered, groups, ranks, scale);
}

void finish_norm(const Launch& launch, const numerics::FinishNorm& request, const double* gathered,
                 const double* power_scale, double* scalars) {
  start_or_throw("finish_norm", finish_norm_kernel, launch, 1, request, gathered, power_scale, scalars);
}

}  // namespace foldstep::cuda
