#include "cpu/fold/element_passes.hpp"
#include "cpu/fold/paths.hpp"
#include "cpu/fold/peers.hpp"

namespace foldstep::cpu {

namespace {

/// Each rank rewrites one slice of everybody's gradients, which nobody else reads any more.
void mirror_in_place(const Pass& pass, const Signals::Turn& turn, const Fold::Accumulate& request) {
  const Range slice = pass.layout.slice(pass.members.index());
  const std::vector<void*> gradients = peer_data(pass, turn, request.gradient_type, slice.begin);
  run(pass.context, ReduceSlice{.sources = gradients.data(),
                                .source_count = gradients.size(),
                                .type = request.gradient_type,
                                .scale = request.scale,
                                .targets = gradients.data(),
                                .target_count = gradients.size(),
                                .n = slice.size()});
}

}  // namespace

void direct_accumulate(const Pass& pass, Signals::Turn& turn, const Fold::Accumulate& request) {
  const Range mine = pass.layout.shard(pass.members.index());
  const std::vector<void*> gradients = peer_data(pass, turn, request.gradient_type, mine.begin);
  float* const accumulator = own_accumulator(pass, request, mine.begin);
  run(pass.context, AccumulateSlice{.sources = gradients.data(),
                                    .source_count = gradients.size(),
                                    .type = request.gradient_type,
                                    .accumulation = request.accumulation,
                                    .scale = request.scale,
                                    .accumulators = &accumulator,
                                    .accumulator_count = 1,
                                    .n = mine.size()});
  if (request.mirror) {
    turn.barrier();  // until all have read what is about to be rewritten
    mirror_in_place(pass, turn, request);
  }
  turn.barrier();
}

}  // namespace foldstep::cpu
