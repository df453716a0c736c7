#include "fold/paths.hpp"

namespace foldstep::fold {

namespace {

/// Each rank rewrites one slice of everybody's gradients, which nobody else reads any more.
void mirror_in_place(const Pass& pass, const Peers& peers, const AccumulateRequest& request) {
  const Range slice = pass.layout.slice(pass.self);
  SumIntoTargets sum;
  sum.sources = data_of_all(pass, peers, request.gradient_type, slice.begin);
  sum.targets = sum.sources;
  sum.type = request.gradient_type;
  sum.scale = request.scale;
  sum.n = slice.size();
  pass.operations.sum_into_targets(sum);
}

}  // namespace

void direct_accumulate(const Pass& pass, Peers& peers, const AccumulateRequest& request) {
  const Range mine = pass.shard();
  SumIntoAccumulators sum = sum_of(request, mine.size());
  sum.sources = data_of_all(pass, peers, request.gradient_type, mine.begin);
  sum.accumulators = {own_accumulator(pass, request, mine.begin)};
  pass.operations.sum_into_accumulators(sum);
  if (request.mirror) {
    peers.barrier();  // until all have read what is about to be rewritten
    mirror_in_place(pass, peers, request);
  }
  peers.barrier();
}

}  // namespace foldstep::fold
