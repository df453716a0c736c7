#pragma once

#include <cstddef>
#include <string_view>

#include "fold/layout.hpp"
#include "runtime/fold_operations.hpp"

/// What the folds refuse before anything is enqueued. Errors: Code::InvalidArgument, InvalidDtype,
/// InvalidLength.
namespace foldstep::fold {

void check_accumulate(const Team& team, const AccumulateRequest& request);
void check_reduce(const Team& team, const ReduceRequest& request);
void check_gather(const Team& team, const GatherRequest& request);

/// Finds the place of each member of `team` in its window. Refuses a team of more than `most_members`.
FoldTeam find_members(const Team& team, int most_members);

/// Where `span` lies in the slab of this rank, in bytes. Errors: Code::PathUnavailable if `window` is null or
/// the span lies elsewhere.
std::size_t window_offset(const PeerWindow* window, const Span& span, std::string_view what);

}  // namespace foldstep::fold
