#pragma once

#include <cstddef>

#include "cuda/fold/team.hpp"
#include "cuda/kernels/kernels.hpp"

namespace foldstep::cuda {

/// Element `first` of this rank's accumulator.
inline std::byte* own_accumulator(const Pass& pass, const Fold::Accumulate& request, std::size_t first) {
  return request.accumulator.as<std::byte>() +
         pass.layout.accumulator_index(pass.members.index(), request.sharded, first) * sizeof(float);
}

/// An AccumulatePass of `n` elements with neither sources nor accumulators nor mirrors yet.
inline AccumulatePass begin_pass(const Fold::Accumulate& request, std::size_t n) {
  AccumulatePass kernel;
  kernel.type = request.gradient_type;
  kernel.accumulation = request.accumulation;
  kernel.scale = request.scale;
  kernel.n = n;
  return kernel;
}

/// A ReducePass of `n` elements with neither sources nor targets yet.
inline ReducePass begin_pass(DType type, float scale, std::size_t n) {
  ReducePass kernel;
  kernel.type = type;
  kernel.scale = scale;
  kernel.n = n;
  return kernel;
}

/// Element `first` of every member's data, where it lies in the window, as the sources of a kernel.
template <typename Kernel>
void read_all(const Pass& pass, const CudaWindow::Turn& turn, std::size_t first, Kernel& kernel) {
  for (int m = 0; m < pass.members.size(); ++m) {
    kernel.sources[m] = turn.data_of(m, first * size_of(kernel.type));
  }
  kernel.source_count = pass.members.size();
}

}  // namespace foldstep::cuda
