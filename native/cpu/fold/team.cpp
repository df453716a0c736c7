#include "cpu/fold/team.hpp"

#include <algorithm>
#include <cstdint>

namespace foldstep::cpu {

namespace {

/// FNV-1a: teams of different members are told apart by it.
std::uint64_t hash_of(const std::vector<int>& world_ranks) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const int rank : world_ranks) hash = (hash ^ static_cast<std::uint64_t>(rank)) * 0x100000001b3U;
  return hash;
}

}  // namespace

Members::Members(const Team& team)
    : communicator_(std::static_pointer_cast<CpuCommunicator>(team.communicator)),
      window_(std::static_pointer_cast<CpuWindow>(team.window)),
      channel_(team.channel) {
  if (!communicator_) throw Error(Code::InvalidArgument, "a team needs a communicator");
  if (channel_ < 0 || channel_ >= channel_count) {
    throw Error(Code::InvalidArgument, "channel " + std::to_string(channel_) + " is not one of 0 to " +
                                           std::to_string(channel_count - 1));
  }
  if (!window_) return;
  const std::vector<int>& there = window_->world_ranks();
  for (const int rank : communicator_->world_ranks()) {
    const auto found = std::find(there.begin(), there.end(), rank);
    if (found == there.end()) {
      throw Error(Code::InvalidArgument,
                  "rank " + std::to_string(rank) + " of the team is not in the team's window");
    }
    places_.push_back(static_cast<int>(found - there.begin()));
  }
}

std::size_t Members::window_offset(const Span& span, std::string_view what) const {
  if (!window_) {
    throw Error(Code::PathUnavailable,
                "the paths direct and owner need a window over the team; without one, take exchange");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(span.memory->data()) + span.offset;
  const auto slab = reinterpret_cast<std::uintptr_t>(window_->slab()->data());
  if (address < slab || address - slab > window_->bytes()) {
    throw Error(Code::PathUnavailable,
                "on this path the " + std::string(what) +
                    " must lie in the team's window, where peers reach it; or take exchange");
  }
  return address - slab;
}

void Members::meet(Descriptor mine, const Cancelled& cancelled,
                   const std::function<void(Signals::Turn*)>& body) const {
  if (!window_) return body(nullptr);
  mine.team = hash_of(communicator_->world_ranks());
  window_->signals().take_turn(channel_, places_, mine, cancelled, [&](Signals::Turn& turn) { body(&turn); });
}

std::byte* Members::peer_bytes(int member, std::size_t offset, std::size_t extent) const {
  if (offset > window_->bytes() || extent > window_->bytes() - offset) {
    throw Error(Code::Internal, "a member announced an offset beyond its slab");
  }
  return window_->data(places_[static_cast<std::size_t>(member)]) + offset;
}

void check_span(const Span& span, std::size_t bytes, std::string_view what) {
  if (!span.memory) throw Error(Code::InvalidArgument, "no memory was given for the " + std::string(what));
  const std::size_t there = span.memory->bytes();
  if (span.offset > there || bytes > there - span.offset) {
    throw Error(Code::InvalidLength, "the " + std::string(what) + " need " + std::to_string(bytes) +
                                         " bytes at offset " + std::to_string(span.offset) +
                                         ", the memory has " + std::to_string(there));
  }
}

}  // namespace foldstep::cpu
