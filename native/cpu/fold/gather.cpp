#include "cpu/fold/element_passes.hpp"
#include "cpu/fold/flight.hpp"
#include "cpu/fold/paths.hpp"
#include "cpu/fold/peers.hpp"

namespace foldstep::cpu {

namespace {

/// Calls `visit` with every other member, beginning behind this one, so that the members do not all turn to
/// the same one at once.
template <typename Visit>
void for_each_peer(const Members& members, const Visit& visit) {
  for (int i = 1; i < members.size(); ++i) visit((members.index() + i) % members.size());
}

}  // namespace

void pull_gather(const Pass& pass, Signals::Turn& turn, const Fold::Gather& request) {
  const std::vector<void*> data = peer_data(pass, turn, request.type, 0);
  const std::size_t width = size_of(request.type);
  auto* const own = request.data.as<std::byte>();
  for_each_peer(pass.members, [&](int peer) {
    const Range shard = pass.layout.shard(peer);
    const auto* const theirs = static_cast<const std::byte*>(data[static_cast<std::size_t>(peer)]);
    run_copy(pass.context, theirs + shard.begin * width, own + shard.begin * width, shard.size() * width);
  });
  turn.barrier();
}

void exchange_gather(const Pass& pass, const Fold::Gather& request) {
  const std::size_t width = size_of(request.type);
  auto* const own = request.data.as<std::byte>();
  const Range mine = pass.layout.shard(pass.members.index());
  Flight flight(pass.members.communicator(), request.data.memory);
  for_each_peer(pass.members, [&](int peer) {
    const Range theirs = pass.layout.shard(peer);
    flight.receive(own + theirs.begin * width, theirs.size() * width, peer);
  });
  for_each_peer(pass.members,
                [&](int peer) { flight.send(own + mine.begin * width, mine.size() * width, peer); });
  flight.land(pass.cancelled);
}

}  // namespace foldstep::cpu
