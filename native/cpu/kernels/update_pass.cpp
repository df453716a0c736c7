#include "cpu/kernels/update_pass.hpp"

#include <algorithm>
#include <cstring>

namespace foldstep::cpu {
namespace {

/// Calls run(segment, offset, n) on runs that together cover all segments, in parallel.
template <typename Segment, typename Run>
void for_runs(Threads& threads, const std::vector<Segment>& segments, Run run) {
  constexpr std::size_t grain = 16384;
  std::size_t total = 0;
  for (const Segment& segment : segments) total += segment.length;
  threads.parallel_for(total, grain, [&](std::size_t begin, std::size_t end) {
    std::size_t start = 0;  // of the segment, among all elements
    for (const Segment& segment : segments) {
      if (start >= end) return;
      const std::size_t from = std::max(begin, start);
      const std::size_t to = std::min(end, start + segment.length);
      if (from < to) run(segment, from - start, to - from);
      start += segment.length;
    }
  });
}

template <typename T>
T* advance(T* pointer, std::size_t n) {
  return pointer == nullptr ? nullptr : pointer + n;
}

}  // namespace

void run_update(Threads& threads, const KernelTable& table, const UpdatePlan& plan,
                const UpdateSettings& settings, const UpdateSlice& arenas, const double* scalars) {
  const NormScalars at{plan.groups};
  const auto clear = [&](std::size_t offset, std::size_t n) {
    std::memset(arenas.accumulator + offset, 0, n * sizeof(float));
  };
  const bool skip = scalars[at.skip()] != 0;
  for_runs(threads, plan.segments, [&](const UpdateSegment& segment, std::size_t offset, std::size_t n) {
    if (skip) return clear(segment.accumulator + offset, n);
    table.update({.master = arenas.master + segment.master + offset,
                  .accumulator = arenas.accumulator + segment.accumulator + offset,
                  .weight = arenas.weight + segment.weight + offset,
                  .moment1 = advance(arenas.moment1, segment.master + offset),
                  .moment2 = advance(arenas.moment2, segment.master + offset),
                  .n = n,
                  .coefficient = scalars[at.coefficient(segment.group)]},
                 settings);
  });
  for_runs(threads, plan.clears, [&](const UpdatePlan::Clear& run, std::size_t offset, std::size_t n) {
    clear(run.offset + offset, n);
  });
}

}  // namespace foldstep::cpu
