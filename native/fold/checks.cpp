#include "fold/checks.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace foldstep::fold {

namespace {

void check_span(const Span& span, std::size_t bytes, std::string_view what) {
  if (!span.memory) throw Error(Code::InvalidArgument, "no memory was given for the " + std::string(what));
  if (span.offset <= span.memory->bytes() && bytes <= span.room()) return;
  throw Error(Code::InvalidLength, "the " + std::string(what) + " need " + std::to_string(bytes) +
                                       " bytes, and have " + std::to_string(span.room()));
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

void check_accumulate(const Team& team, const AccumulateRequest& request) {
  check_team(team);
  check_float(request.gradient_type);
  const Layout layout(request.geometry, team.communicator->size());
  check_span(request.gradient, layout.extent(size_of(request.gradient_type)), "gradients");
  const std::size_t accumulators = layout.accumulator_extent(team.communicator->rank(), request.sharded);
  check_span(request.accumulator, accumulators, "accumulators");
  check_apart(request.gradient, layout.extent(size_of(request.gradient_type)), request.accumulator,
              accumulators);
}

void check_reduce(const Team& team, const ReduceRequest& request) {
  check_team(team);
  check_float(request.type);
  const Layout layout(request.geometry, team.communicator->size());
  if (request.sharded && layout.shards() != 1) {
    throw Error(Code::InvalidArgument, "a sharded reduction is among the replicas of one shard, not over " +
                                           std::to_string(layout.shards()) + " shards");
  }
  check_span(request.data, layout.extent(size_of(request.type)), "data");
}

void check_gather(const Team& team, const GatherRequest& request) {
  check_team(team);
  const Layout layout(request.geometry, team.communicator->size());
  if (request.geometry.replicas != 1) {
    throw Error(Code::InvalidArgument, "a gather is over shards without replicas, not with " +
                                           std::to_string(request.geometry.replicas));
  }
  check_span(request.data, layout.extent(size_of(request.type)), "data");
}

FoldTeam find_members(const Team& team, int most_members) {
  FoldTeam found{team.communicator, team.window, team.channel, {}};
  if (found.size() > most_members) {
    throw Error(Code::InvalidArgument, "a team on this device has at most " + std::to_string(most_members) +
                                           " members, not " + std::to_string(found.size()));
  }
  if (!team.window) return found;
  const std::vector<int>& there = team.window->world_ranks();
  for (const int rank : team.communicator->world_ranks()) {
    const auto place = std::find(there.begin(), there.end(), rank);
    if (place == there.end()) {
      throw Error(Code::InvalidArgument,
                  "rank " + std::to_string(rank) + " of the team is not in the team's window");
    }
    found.places.push_back(static_cast<int>(place - there.begin()));
  }
  return found;
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

}  // namespace foldstep::fold
