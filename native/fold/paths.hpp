#pragma once

#include "fold/pass.hpp"

namespace foldstep::fold {

// What the members of a team do on each path. Those with peers work in the window, behind a meeting of the
// members there, and end when every member has done its part. Those without are behind a meeting on the
// communicator. A team of one needs neither.

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
