#include <algorithm>

#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launch.cuh"
#include "cuda/kernels/places.cuh"
#include "numerics/ordered_sum.hpp"

namespace foldstep::cuda {

namespace {

/// What becomes of a corrected gradient, beside being mirrored.
enum class Adding { Nothing, InF32, InBf16 };

/// The addresses of a pass, in memory that the block shares.
struct Addresses {
  std::byte** sources;
  std::byte** accumulators;
  std::byte** mirrors;
};

template <Adding adding>
FOLDSTEP_DEVICE float added(float accumulator, float gradient) {
  return adding == Adding::InBf16 ? numerics::accumulate_bf16(accumulator, gradient)
                                  : numerics::accumulate_f32(accumulator, gradient);
}

/// Adds `Run` elements of each of `Count` sources, all of them loaded first.
template <typename Element, int Count, int Run>
FOLDSTEP_DEVICE void add_sources(std::byte* const* sources, std::size_t i, float (&sum)[Run]) {
  static_assert(Run == per_vector<Element>);
  Vector loaded[Count];
  FOLDSTEP_UNROLL(Count)
  for (int r = 0; r < Count; ++r) loaded[r] = load_vector(sources[r] + i * Element::width);
  FOLDSTEP_UNROLL(Count)
  for (int r = 0; r < Count; ++r) {
    float x[Run];
    Element::unpack(loaded[r], x);
    FOLDSTEP_UNROLL(Run)
    for (int k = 0; k < Run; ++k) sum[k] = numerics::add_member(sum[k], x[k]);
  }
}

/// x_0 + x_1 + ... of `Run` elements of `Count` sources; 0: of `count`.
template <typename Element, int Count, int Run>
FOLDSTEP_DEVICE void sum_sources(std::byte* const* sources, int count, std::size_t i, float (&sum)[Run]) {
  // -0 leaves every x_0 as it is.
  FOLDSTEP_UNROLL(Run)
  for (int k = 0; k < Run; ++k) sum[k] = -0.0F;
  if constexpr (Count > 0) {
    add_sources<Element, Count>(sources, i, sum);
  } else {
    int r = 0;
    FOLDSTEP_UNROLL(1)
    for (; r + 4 <= count; r += 4) add_sources<Element, 4>(sources + r, i, sum);
    FOLDSTEP_UNROLL(1)
    for (; r < count; ++r) add_sources<Element, 1>(sources + r, i, sum);
  }
}

/// One element. All reads of it come before the first write to it.
template <typename Element, Adding adding>
FOLDSTEP_DEVICE void fold_element(const AccumulatePass& pass, const Addresses& at, std::size_t i) {
  float sum = Element::load(at.sources[0], i);
  for (int r = 1; r < pass.source_count; ++r)
    sum = numerics::add_member(sum, Element::load(at.sources[r], i));
  if constexpr (adding != Adding::Nothing) {
    const float old = F32::load(at.accumulators[0], i);
    const float accumulator = added<adding>(old, numerics::corrected(sum, pass.scale));
    for (int a = 0; a < pass.accumulator_count; ++a) F32::store(at.accumulators[a], i, accumulator);
  }
  const float mirrored = numerics::stored_corrected(sum, pass.scale);
  for (int m = 0; m < pass.mirror_count; ++m) Element::store(at.mirrors[m], i, mirrored);
}

/// Where the runs of all arrays may begin, as aligned_heads.
template <typename Element, int Run>
FOLDSTEP_DEVICE std::uint32_t common_heads(const AccumulatePass& pass, const Addresses& at) {
  std::uint32_t heads = ~0U;
  for (int r = 0; r < pass.source_count; ++r) heads &= aligned_heads<Run>(at.sources[r], Element::width);
  for (int a = 0; a < pass.accumulator_count; ++a)
    heads &= aligned_heads<Run>(at.accumulators[a], F32::width);
  for (int m = 0; m < pass.mirror_count; ++m) heads &= aligned_heads<Run>(at.mirrors[m], Element::width);
  return heads;
}

/// `Count` sources, or any number of them where it is 0. All reads of an element come before the first write
/// to it, since mirrors may be sources.
template <typename Element, int Count, Adding adding>
FOLDSTEP_KERNEL(block_threads, resident_blocks)
fold_kernel(FOLDSTEP_PARAMETER AccumulatePass pass, const Status* status) {
  if (block_has_failed(status)) return;
  FOLDSTEP_SHARED(std::byte*, sources, max_members);
  FOLDSTEP_SHARED(std::byte*, accumulators, max_members);
  FOLDSTEP_SHARED(std::byte*, mirrors, max_members);
  resolve(pass.sources, pass.source_count, sources);
  resolve(pass.accumulators, pass.accumulator_count, accumulators);
  resolve(pass.mirrors, pass.mirror_count, mirrors);
  block_barrier();
  const Addresses at{sources, accumulators, mirrors};

  constexpr int run = per_vector<Element>;
  struct Loaded {
    float sum[run];
    float accumulator[run];
  };
  const Split parts = split<run>(common_heads<Element, run>(pass, at), pass.n);
  // Members begin at different elements, so that they do not all read from one of them at once.
  const std::size_t start =
      parts.runs / static_cast<unsigned>(pass.source_count) * static_cast<unsigned>(pass.self);
  for_elements<run, 1>(
      share_of_grid(), parts, start,
      [&](std::size_t i) {
        Loaded loaded;
        if constexpr (adding != Adding::Nothing)
          load_elements<F32>(at.accumulators[0], i, loaded.accumulator);
        sum_sources<Element, Count>(at.sources, pass.source_count, i, loaded.sum);
        return loaded;
      },
      [&](std::size_t i, const Loaded& loaded) {
        float result[run];
        if constexpr (adding != Adding::Nothing) {
          FOLDSTEP_UNROLL(run)
          for (int k = 0; k < run; ++k) {
            result[k] = added<adding>(loaded.accumulator[k], numerics::corrected(loaded.sum[k], pass.scale));
          }
          FOLDSTEP_UNROLL(1)
          for (int a = 0; a < pass.accumulator_count; ++a) store_elements<F32>(at.accumulators[a], i, result);
        }
        FOLDSTEP_UNROLL(run)
        for (int k = 0; k < run; ++k) result[k] = numerics::stored_corrected(loaded.sum[k], pass.scale);
        FOLDSTEP_UNROLL(1)
        for (int m = 0; m < pass.mirror_count; ++m) store_elements<Element>(at.mirrors[m], i, result);
      },
      [&](std::size_t i) { fold_element<Element, adding>(pass, at, i); });
}

template <typename Element, int Count, Adding adding>
void start_fold(const Launch& launch, const AccumulatePass& pass) {
  start_or_throw("fold", fold_kernel<Element, Count, adding>, launch,
                 blocks_for(launch, pass.n / per_vector<Element>), pass);
}

template <typename Element, Adding adding>
void start_fold(const Launch& launch, const AccumulatePass& pass) {
  switch (pass.source_count) {
    case 1:
      return start_fold<Element, 1, adding>(launch, pass);
    case 2:
      return start_fold<Element, 2, adding>(launch, pass);
    case 4:
      return start_fold<Element, 4, adding>(launch, pass);
    default:
      return start_fold<Element, 0, adding>(launch, pass);
  }
}

template <Adding adding>
void start_fold(const Launch& launch, const AccumulatePass& pass) {
  if (pass.n == 0) return;
  pass.type == DType::BF16 ? start_fold<Bf16, adding>(launch, pass) : start_fold<F32, adding>(launch, pass);
}

}  // namespace

void accumulate(const Launch& launch, const AccumulatePass& pass) {
  pass.accumulation == Accumulation::BF16 ? start_fold<Adding::InBf16>(launch, pass)
                                          : start_fold<Adding::InF32>(launch, pass);
}

void reduce(const Launch& launch, const ReducePass& pass) {
  AccumulatePass all;
  std::copy_n(pass.sources, pass.source_count, all.sources);
  std::copy_n(pass.targets, pass.target_count, all.mirrors);
  all.source_count = pass.source_count;
  all.mirror_count = pass.target_count;
  all.type = pass.type;
  all.scale = pass.scale;
  all.n = pass.n;
  all.self = pass.self;
  start_fold<Adding::Nothing>(launch, all);
}

}  // namespace foldstep::cuda
