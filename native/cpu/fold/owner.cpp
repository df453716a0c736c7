#include "cpu/fold/element_passes.hpp"
#include "cpu/fold/paths.hpp"
#include "cpu/fold/peers.hpp"

namespace foldstep::cpu {

void owner_accumulate(const Pass& pass, Signals::Turn& turn, const Fold::Accumulate& request) {
  // Only this rank reads its part of anybody's gradients or writes it anywhere, so nothing needs to be
  // ordered.
  const Range mine = pass.layout.owned(pass.members.index());
  const std::vector<void*> gradients = peer_data(pass, turn, request.gradient_type, mine.begin);
  const std::vector<float*> accumulators = replica_accumulators(pass, turn, request, mine.begin);
  run(pass.context, AccumulateSlice{.sources = gradients.data(),
                                    .source_count = gradients.size(),
                                    .type = request.gradient_type,
                                    .accumulation = request.accumulation,
                                    .scale = request.scale,
                                    .accumulators = accumulators.data(),
                                    .accumulator_count = accumulators.size(),
                                    .mirrors = gradients.data(),
                                    .mirror_count = request.mirror ? gradients.size() : 0,
                                    .n = mine.size()});
  turn.barrier();
}

void owner_reduce(const Pass& pass, Signals::Turn& turn, const Fold::Reduce& request) {
  const int self = pass.members.index();
  const Range mine = pass.layout.owned(self);
  const std::vector<void*> data = peer_data(pass, turn, request.type, mine.begin);
  // Those of the shard's replicas, which are neighbours in the team. The others' elements stay as they are.
  void* const* const targets = data.data() + pass.layout.first_replica(self);
  run(pass.context, ReduceSlice{.sources = data.data(),
                                .source_count = data.size(),
                                .type = request.type,
                                .scale = request.scale,
                                .targets = targets,
                                .target_count = static_cast<std::size_t>(pass.layout.geometry().replicas),
                                .n = mine.size()});
  turn.barrier();
}

}  // namespace foldstep::cpu
