#include "runtime/fold_checks.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace foldstep {

namespace {

void check_span(const Span& span, std::size_t bytes, std::string_view what) {
  if (!span.memory) throw Error(Code::InvalidArgument, "no memory was given for the " + std::string(what));
  const std::size_t there = span.memory->bytes();
  if (span.offset > there || bytes > there - span.offset) {
    throw Error(Code::InvalidLength, "the " + std::string(what) + " need " + std::to_string(bytes) +
                                         " bytes at offset " + std::to_string(span.offset) +
                                         ", the memory has " + std::to_string(there));
  }
}

/// Members would read what this one has rewritten.
void check_apart(const Span& gradient, std::size_t gradients, const Span& accumulator,
                 std::size_t accumulators) {
  if (gradients == 0 || accumulators == 0) return;
  const std::byte* const g = gradient.as<const std::byte>();
  const std::byte* const a = accumulator.as<const std::byte>();
  if (g + gradients <= a || a + accumulators <= g) return;
  throw Error(Code::InvalidArgument,
              "gradients and accumulators overlap; give the accumulators memory of their own");
}

void check_team(const Team& team) {
  if (!team.communicator) throw Error(Code::InvalidArgument, "a team needs a communicator");
  if (team.channel >= 0 && team.channel < channel_count) return;
  throw Error(Code::InvalidArgument, "channel " + std::to_string(team.channel) + " is not one of 0 to " +
                                         std::to_string(channel_count - 1));
}

void check_float(DType type) {
  if (type == DType::BF16 || type == DType::F32) return;
  throw Error(Code::InvalidDtype, "gradients are bfloat16 or float32, not " + std::string(name_of(type)));
}

}  // namespace

Layout check_accumulate(const Team& team, const Fold::Accumulate& request) {
  check_team(team);
  check_float(request.gradient_type);
  const Layout layout(request.geometry, team.communicator->size());
  check_span(request.gradient, layout.extent(size_of(request.gradient_type)), "gradients");
  const std::size_t accumulators = layout.accumulator_extent(team.communicator->rank(), request.sharded);
  check_span(request.accumulator, accumulators, "accumulators");
  check_apart(request.gradient, layout.extent(size_of(request.gradient_type)), request.accumulator,
              accumulators);
  return layout;
}

Layout check_reduce(const Team& team, const Fold::Reduce& request) {
  check_team(team);
  check_float(request.type);
  const Layout layout(request.geometry, team.communicator->size());
  if (request.sharded && layout.shards() != 1) {
    throw Error(Code::InvalidArgument, "a sharded reduction is among the replicas of one shard, not over " +
                                           std::to_string(layout.shards()) + " shards");
  }
  check_span(request.data, layout.extent(size_of(request.type)), "data");
  return layout;
}

Layout check_gather(const Team& team, const Fold::Gather& request) {
  check_team(team);
  const Layout layout(request.geometry, team.communicator->size());
  if (request.geometry.replicas != 1) {
    throw Error(Code::InvalidArgument, "a gather is over shards without replicas, not with " +
                                           std::to_string(request.geometry.replicas));
  }
  check_span(request.data, layout.extent(size_of(request.type)), "data");
  return layout;
}

std::uint64_t hash_of(const std::vector<int>& world_ranks) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const int rank : world_ranks) hash = (hash ^ static_cast<std::uint64_t>(rank)) * 0x100000001b3U;
  return hash;
}

std::vector<int> places_in(const PeerWindow& window, const Communicator& communicator) {
  const std::vector<int>& there = window.world_ranks();
  std::vector<int> places;
  for (const int rank : communicator.world_ranks()) {
    const auto found = std::find(there.begin(), there.end(), rank);
    if (found == there.end()) {
      throw Error(Code::InvalidArgument,
                  "rank " + std::to_string(rank) + " of the team is not in the team's window");
    }
    places.push_back(static_cast<int>(found - there.begin()));
  }
  return places;
}

std::size_t window_offset(const PeerWindow* window, const Span& span, std::string_view what) {
  if (window == nullptr) {
    throw Error(Code::PathUnavailable,
                "the paths direct and owner need a window over the team; without one, take exchange");
  }
  const std::shared_ptr<Memory> slab = window->slab();
  const auto address = reinterpret_cast<std::uintptr_t>(span.memory->data()) + span.offset;
  const auto begin = reinterpret_cast<std::uintptr_t>(slab->data());
  if (address < begin || address - begin > slab->bytes()) {
    throw Error(Code::PathUnavailable,
                "on this path the " + std::string(what) +
                    " must lie in the team's window, where peers reach it; or take exchange");
  }
  return address - begin;
}

}  // namespace foldstep
