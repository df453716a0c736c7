#pragma once

#include <cstddef>
#include <vector>

#include "fold/layout.hpp"
#include "runtime/fold_operations.hpp"

namespace foldstep::fold {

/// What a path needs to know, for as long as it runs.
struct Pass {
  FoldOperations& operations;
  const Layout& layout;
  int self;  ///< this rank's place in the team

  int size() const { return layout.members(); }
  Range shard() const { return layout.shard(self); }
  Range owned() const { return layout.owned(self); }
};

/// Element `first` of what begins at `span`.
Place place_of(const Span& span, std::size_t first, DType type);

/// Element `first` of this rank's accumulator.
Place own_accumulator(const Pass& pass, const AccumulateRequest& request, std::size_t first);

/// Element `first` of every member's data, where it lies in the window.
std::vector<Place> data_of_all(const Pass& pass, const Peers& peers, DType type, std::size_t first);

/// Element `first` of the accumulators of this rank's shard: its own, then those of the other replicas.
std::vector<Place> accumulators_of_shard(const Pass& pass, const Peers& peers,
                                         const AccumulateRequest& request, std::size_t first);

/// The sum of `n` elements that `request` asks for. The caller still sets the places.
SumIntoAccumulators sum_of(const AccumulateRequest& request, std::size_t n);
SumIntoTargets sum_of(const ReduceRequest& request, std::size_t n);

}  // namespace foldstep::fold
