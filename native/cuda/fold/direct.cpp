#include <algorithm>

#include "cuda/fold/paths.hpp"
#include "cuda/fold/places.hpp"

namespace foldstep::cuda {

namespace {

/// Each rank rewrites one slice of everybody's gradients, which nobody else reads any more.
void mirror_in_place(const Pass& pass, const CudaWindow::Turn& turn, const Fold::Accumulate& request) {
  const Range slice = pass.layout.slice(pass.members.index());
  ReducePass kernel = begin_pass(request.gradient_type, request.scale, slice.size());
  kernel.self = pass.members.index();
  read_all(pass, turn, slice.begin, kernel);
  std::copy_n(kernel.sources, kernel.source_count, kernel.targets);
  kernel.target_count = kernel.source_count;
  reduce(pass.lane.launch(), kernel);
}

}  // namespace

void direct_accumulate(const Pass& pass, CudaWindow::Turn& turn, const Fold::Accumulate& request) {
  const Range mine = pass.layout.shard(pass.members.index());
  AccumulatePass kernel = begin_pass(request, mine.size());
  kernel.self = pass.members.index();
  read_all(pass, turn, mine.begin, kernel);
  kernel.accumulators[0].base = own_accumulator(pass, request, mine.begin);
  kernel.accumulator_count = 1;
  accumulate(pass.lane.launch(), kernel);
  if (request.mirror) {
    turn.barrier();  // until all have read what is about to be rewritten
    mirror_in_place(pass, turn, request);
  }
  turn.barrier();
}

}  // namespace foldstep::cuda
