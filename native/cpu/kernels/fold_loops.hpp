#pragma once

#include "cpu/kernels/elements.hpp"
#include "cpu/kernels/kernel_table.hpp"
#include "numerics/ordered_sum.hpp"

namespace foldstep::cpu {
namespace {

// Slices are worked off in chunks whose sum over the sources is formed in a buffer that stays in the
// first-level cache. Every read of a chunk thus comes before every write to it: targets and mirrors may be
// the sources.
constexpr std::size_t chunk_length = 1024;

/// store(i, [sum[i] +] x_0[at + i] + ... + x_(Count-1)[at + i]), from the left. No store may reach an element
/// that another i reads.
template <typename Type, int Count, bool First, typename Store>
void add_sources(const void* const* sources, std::size_t at, std::size_t n, const float* sum, Store store) {
  const void* members[Count];
  for (int r = 0; r < Count; ++r) members[r] = sources[r];
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const float x = Type::load(members[0], at + i);
    float s = First ? x : numerics::add_member(sum[i], x);
#pragma GCC unroll 8
    for (int r = 1; r < Count; ++r) s = numerics::add_member(s, Type::load(members[r], at + i));
    store(i, s);
  }
}

/// `count` is 1, 2, 4 or 8.
template <typename Type, bool First, typename Store>
void add_group(const void* const* sources, std::size_t count, std::size_t at, std::size_t n, const float* sum,
               Store store) {
  switch (count) {
    case 8:
      return add_sources<Type, 8, First>(sources, at, n, sum, store);
    case 4:
      return add_sources<Type, 4, First>(sources, at, n, sum, store);
    case 2:
      return add_sources<Type, 2, First>(sources, at, n, sum, store);
    default:
      return add_sources<Type, 1, First>(sources, at, n, sum, store);
  }
}

/// store(i, x_0[at + i] + ... ) for i < n <= chunk_length, over any number of sources: in groups, by way of
/// `sum`.
template <typename Type, typename Store>
void sum_sources(const void* const* sources, std::size_t count, std::size_t at, std::size_t n, float* sum,
                 Store store) {
  const auto keep = [sum](std::size_t i, float s) { sum[i] = s; };
  for (std::size_t done = 0; done < count;) {
    const std::size_t left = count - done;
    const std::size_t group = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const bool first = done == 0;
    const bool last = group == left;
    if (first && last) {
      add_group<Type, true>(sources, group, at, n, sum, store);
    } else if (first) {
      add_group<Type, true>(sources, group, at, n, sum, keep);
    } else if (last) {
      add_group<Type, false>(sources + done, group, at, n, sum, store);
    } else {
      add_group<Type, false>(sources + done, group, at, n, sum, keep);
    }
    done += group;
  }
}

template <typename Type>
void sum_sources(const void* const* sources, std::size_t count, std::size_t at, std::size_t n, float* sum) {
  sum_sources<Type>(sources, count, at, n, sum, [sum](std::size_t i, float s) { sum[i] = s; });
}

template <typename Type>
void store_corrected(void* const* targets, std::size_t count, float scale, std::size_t at, std::size_t n,
                     const float* sum) {
  for (std::size_t t = 0; t < count; ++t) {
    void* const target = targets[t];
    for (std::size_t i = 0; i < n; ++i)
      Type::store(target, at + i, numerics::stored_corrected(sum[i], scale));
  }
}

template <typename Type, bool RoundToBf16>
void accumulate_elements(const AccumulateSlice& slice) {
  const float scale = slice.scale;
  float sum[chunk_length];
  for (std::size_t at = 0; at < slice.n; at += chunk_length) {
    const std::size_t n = slice.n - at < chunk_length ? slice.n - at : chunk_length;
    float* const accumulator = slice.accumulators[0] + at;
    const auto add = [=](std::size_t i, float s) {
      const float old = F32::load(accumulator, i);
      const float gradient = numerics::corrected(s, scale);
      F32::store(
          accumulator, i,
          RoundToBf16 ? numerics::accumulate_bf16(old, gradient) : numerics::accumulate_f32(old, gradient));
    };
    if (slice.mirror_count == 0) {
      sum_sources<Type>(slice.sources, slice.source_count, at, n, sum, add);
    } else {
      sum_sources<Type>(slice.sources, slice.source_count, at, n, sum);
      for (std::size_t i = 0; i < n; ++i) add(i, sum[i]);
      store_corrected<Type>(slice.mirrors, slice.mirror_count, scale, at, n, sum);
    }
    for (std::size_t a = 1; a < slice.accumulator_count; ++a) {
      __builtin_memcpy(static_cast<void*>(slice.accumulators[a] + at), static_cast<const void*>(accumulator),
                       n * sizeof(float));
    }
  }
}

template <typename Type>
void accumulate_elements(const AccumulateSlice& slice) {
  return slice.accumulation == Accumulation::BF16 ? accumulate_elements<Type, true>(slice)
                                                  : accumulate_elements<Type, false>(slice);
}

[[gnu::noinline]] void accumulate(const AccumulateSlice& slice) {
  return slice.type == DType::BF16 ? accumulate_elements<Bf16>(slice) : accumulate_elements<F32>(slice);
}

template <typename Type>
void reduce_elements(const ReduceSlice& slice) {
  float sum[chunk_length];
  for (std::size_t at = 0; at < slice.n; at += chunk_length) {
    const std::size_t n = slice.n - at < chunk_length ? slice.n - at : chunk_length;
    sum_sources<Type>(slice.sources, slice.source_count, at, n, sum);
    store_corrected<Type>(slice.targets, slice.target_count, slice.scale, at, n, sum);
  }
}

[[gnu::noinline]] void reduce(const ReduceSlice& slice) {
  return slice.type == DType::BF16 ? reduce_elements<Bf16>(slice) : reduce_elements<F32>(slice);
}

}  // namespace
}  // namespace foldstep::cpu
