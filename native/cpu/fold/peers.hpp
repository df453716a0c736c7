#pragma once

#include <cstddef>
#include <vector>

#include "cpu/fold/team.hpp"

namespace foldstep::cpu {

/// Element `first` of this rank's accumulator.
float* own_accumulator(const Pass& pass, const Fold::Accumulate& request, std::size_t first);

/// Element `first` of every member's data, where it lies in shared memory.
std::vector<void*> peer_data(const Pass& pass, const Signals::Turn& turn, DType type, std::size_t first);

/// Element `first` of the accumulators of this rank's shard: its own, then the other replicas'.
std::vector<float*> replica_accumulators(const Pass& pass, const Signals::Turn& turn,
                                         const Fold::Accumulate& request, std::size_t first);

}  // namespace foldstep::cpu
