#pragma once

#include "cuda/fold/team.hpp"

namespace foldstep::cuda {

// Each on an issuing thread, behind a meeting of the members, in a team of at least two. Those with a turn
// work in the window and end when every member has done its part; the others have met on the communicator.

void direct_accumulate(const Pass& pass, CudaWindow::Turn& turn, const Fold::Accumulate& request);
void owner_accumulate(const Pass& pass, CudaWindow::Turn& turn, const Fold::Accumulate& request);
void exchange_accumulate(const Pass& pass, const Fold::Accumulate& request);
void library_accumulate(const Pass& pass, const Fold::Accumulate& request);

void owner_reduce(const Pass& pass, CudaWindow::Turn& turn, const Fold::Reduce& request);
void exchange_reduce(const Pass& pass, const Fold::Reduce& request);
void library_reduce(const Pass& pass, const Fold::Reduce& request);

void pull_gather(const Pass& pass, CudaWindow::Turn& turn, const Fold::Gather& request);
void exchange_gather(const Pass& pass, const Fold::Gather& request);

}  // namespace foldstep::cuda
