#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/fold.hpp"
#include "runtime/layout.hpp"

/// What every backend's Fold refuses before it enqueues anything. Each gives the layout over the team's
/// members. Errors: Code::InvalidArgument, InvalidDtype, InvalidLength.
namespace foldstep {

Layout check_accumulate(const Team& team, const Fold::Accumulate& request);
Layout check_reduce(const Team& team, const Fold::Reduce& request);
Layout check_gather(const Team& team, const Fold::Gather& request);

/// Channels of a window, as in Team.
constexpr int channel_count = 16;

/// Whether a path reads and writes peers' memory, for which a team needs a window.
constexpr bool in_shared_memory(Path path) {
  return path == Path::Direct || path == Path::Owner;
}

/// FNV-1a of the members' world ranks: teams of different members are told apart by it.
std::uint64_t hash_of(const std::vector<int>& world_ranks);

/// The place of each member of `communicator` in `window`. Errors: Code::InvalidArgument if one has none.
std::vector<int> places_in(const PeerWindow& window, const Communicator& communicator);

/// Where `span` lies in the slab of this rank, in bytes. Errors: Code::PathUnavailable if `window` is null or
/// the span lies elsewhere.
std::size_t window_offset(const PeerWindow* window, const Span& span, std::string_view what);

}  // namespace foldstep
