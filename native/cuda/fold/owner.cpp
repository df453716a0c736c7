#include <algorithm>

#include "cuda/fold/paths.hpp"
#include "cuda/fold/places.hpp"

namespace foldstep::cuda {

void owner_accumulate(const Pass& pass, CudaWindow::Turn& turn, const Fold::Accumulate& request) {
  // Only this rank reads its part of anybody's gradients or writes it anywhere, so nothing needs to be
  // ordered.
  const Layout& layout = pass.layout;
  const int self = pass.members.index();
  const Range mine = layout.owned(self);
  AccumulatePass kernel = begin_pass(request, mine.size());
  read_all(pass, turn, mine.begin, kernel);
  if (request.mirror) {
    std::copy_n(kernel.sources, kernel.source_count, kernel.mirrors);
    kernel.mirror_count = kernel.source_count;
  }
  // Those of the shard: this rank's own, then the other replicas'.
  kernel.accumulators[kernel.accumulator_count++].base = own_accumulator(pass, request, mine.begin);
  const std::size_t bytes = layout.accumulator_index(self, request.sharded, mine.begin) * sizeof(float);
  for (int i = 0; i < layout.geometry().replicas; ++i) {
    const int member = layout.first_replica(self) + i;
    if (member != self) kernel.accumulators[kernel.accumulator_count++] = turn.accumulator_of(member, bytes);
  }
  accumulate(pass.lane.launch(), kernel);
  turn.barrier();
}

void owner_reduce(const Pass& pass, CudaWindow::Turn& turn, const Fold::Reduce& request) {
  const int self = pass.members.index();
  const Range mine = pass.layout.owned(self);
  ReducePass kernel = begin_pass(request.type, request.scale, mine.size());
  read_all(pass, turn, mine.begin, kernel);
  // Those of the shard's replicas, which are neighbours in the team. The others' elements stay as they are.
  kernel.target_count = pass.layout.geometry().replicas;
  std::copy_n(kernel.sources + pass.layout.first_replica(self), kernel.target_count, kernel.targets);
  reduce(pass.lane.launch(), kernel);
  turn.barrier();
}

}  // namespace foldstep::cuda
