#pragma once

#include "fold/pass.hpp"

namespace foldstep::fold {

// What the members of a team do on each path. A function that takes `Peers` works in the window: it runs
// after the members have met there, and ends when every member has done its part. A function without `Peers`
// runs after a meeting on the communicator. A team of one meets nobody.

void accumulate_alone(const Pass& pass, const AccumulateRequest& request);
void direct_accumulate(const Pass& pass, Peers& peers, const AccumulateRequest& request);
void owner_accumulate(const Pass& pass, Peers& peers, const AccumulateRequest& request);
void exchange_accumulate(const Pass& pass, const AccumulateRequest& request);
void library_accumulate(const Pass& pass, const AccumulateRequest& request);

void reduce_alone(const Pass& pass, const ReduceRequest& request);
void owner_reduce(const Pass& pass, Peers& peers, const ReduceRequest& request);
void exchange_reduce(const Pass& pass, const ReduceRequest& request);
void library_reduce(const Pass& pass, const ReduceRequest& request);

void pull_gather(const Pass& pass, Peers& peers, const GatherRequest& request);
void exchange_gather(const Pass& pass, const GatherRequest& request);

}  // namespace foldstep::fold
