#pragma once

#include "cpu/fold/team.hpp"

namespace foldstep::cpu {

// Each on a stream's thread, after the members have met, in a team of at least two. Those with a turn work in
// shared memory and return when every member has done its part; the others have met on the communicator.

void direct_accumulate(const Pass& pass, Signals::Turn& turn, const Fold::Accumulate& request);
void owner_accumulate(const Pass& pass, Signals::Turn& turn, const Fold::Accumulate& request);
void exchange_accumulate(const Pass& pass, const Fold::Accumulate& request);
void library_accumulate(const Pass& pass, const Fold::Accumulate& request);

void owner_reduce(const Pass& pass, Signals::Turn& turn, const Fold::Reduce& request);
void exchange_reduce(const Pass& pass, const Fold::Reduce& request);
void library_reduce(const Pass& pass, const Fold::Reduce& request);

void pull_gather(const Pass& pass, Signals::Turn& turn, const Fold::Gather& request);
void exchange_gather(const Pass& pass, const Fold::Gather& request);

}  // namespace foldstep::cpu
