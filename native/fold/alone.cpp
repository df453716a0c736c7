#include "fold/paths.hpp"

namespace foldstep::fold {

void accumulate_alone(const Pass& pass, const AccumulateRequest& request) {
  const Range mine = pass.layout.covered();
  SumIntoAccumulators sum = sum_of(request, mine.size());
  sum.sources = {place_of(request.gradient, mine.begin, request.gradient_type)};
  sum.accumulators = {own_accumulator(pass, request, mine.begin)};
  if (request.mirror) sum.mirrors = sum.sources;
  pass.operations.sum_into_accumulators(sum);
}

void reduce_alone(const Pass& pass, const ReduceRequest& request) {
  const Range mine = pass.layout.covered();
  SumIntoTargets sum = sum_of(request, mine.size());
  sum.sources = {place_of(request.data, mine.begin, request.type)};
  sum.targets = sum.sources;
  pass.operations.sum_into_targets(sum);
}

}  // namespace foldstep::fold
