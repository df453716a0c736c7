#include "fold/paths.hpp"

namespace foldstep::fold {

void owner_accumulate(const Pass& pass, Peers& peers, const AccumulateRequest& request) {
  // Only this rank reads its part of anybody's gradients or writes it anywhere, so nothing needs to be
  // ordered.
  const Range mine = pass.owned();
  SumIntoAccumulators sum = sum_of(request, mine.size());
  sum.sources = data_of_all(pass, peers, request.gradient_type, mine.begin);
  sum.accumulators = accumulators_of_shard(pass, peers, request, mine.begin);
  if (request.mirror) sum.mirrors = sum.sources;
  pass.operations.sum_into_accumulators(sum);
  peers.barrier();
}

void owner_reduce(const Pass& pass, Peers& peers, const ReduceRequest& request) {
  const Range mine = pass.owned();
  SumIntoTargets sum = sum_of(request, mine.size());
  sum.sources = data_of_all(pass, peers, request.type, mine.begin);
  // The replicas of a shard are neighbours in the team. The elements of others stay as they are.
  const auto first = sum.sources.begin() + pass.layout.first_replica(pass.self);
  sum.targets.assign(first, first + pass.layout.geometry().replicas);
  pass.operations.sum_into_targets(sum);
  peers.barrier();
}

}  // namespace foldstep::fold
