#pragma once

#include <cstddef>
#include <vector>

#include "cpu/fold/team.hpp"

namespace foldstep::cpu {

/// Index of element `first` of the flat layout in a member's accumulator. `first` lies in the member's shard;
/// if that is empty, the index is of no element.
std::size_t accumulator_index(const Layout& layout, int member, bool sharded, std::size_t first);

/// Bytes from an accumulator's first element to the end of what the member works on.
std::size_t accumulator_extent(const Layout& layout, int member, bool sharded);

/// Element `first` of this rank's accumulator.
float* own_accumulator(const Pass& pass, const Fold::Accumulate& request, std::size_t first);

/// Element `first` of every member's data, where it lies in shared memory.
std::vector<void*> peer_data(const Pass& pass, const Signals::Turn& turn, DType type, std::size_t first);

/// Element `first` of the accumulators of this rank's shard: its own, then the other replicas'.
std::vector<float*> replica_accumulators(const Pass& pass, const Signals::Turn& turn,
                                         const Fold::Accumulate& request, std::size_t first);

}  // namespace foldstep::cpu
