#include <algorithm>

#include "fold/paths.hpp"

namespace foldstep::fold {

namespace {

/// Calls `visit` with every other member, beginning behind this one, so that the members do not all turn to
/// the same one at once.
template <typename Visit>
void for_each_peer(const Pass& pass, const Visit& visit) {
  for (int i = 1; i < pass.size(); ++i) visit((pass.self + i) % pass.size());
}

}  // namespace

void pull_gather(const Pass& pass, Peers& peers, const GatherRequest& request) {
  const std::size_t width = size_of(request.type);
  auto* const own = request.data.as<std::byte>();
  for_each_peer(pass, [&](int peer) {
    const Range shard = pass.layout.shard(peer);
    const Range bytes{shard.begin * width, shard.end * width};
    pass.operations.copy(peers.data_of(peer, bytes), own + bytes.begin, bytes.size());
  });
  peers.barrier();
}

void exchange_gather(const Pass& pass, const GatherRequest& request) {
  const std::size_t width = size_of(request.type);
  auto* const own = request.data.as<std::byte>();
  std::size_t longest = 0;
  for (int m = 0; m < pass.size(); ++m) longest = std::max(longest, pass.layout.shard(m).size());
  if (longest == 0) return;
  // Every peer is sent a chunk and sends one.
  const auto peers = static_cast<std::size_t>(pass.size() - 1);
  const std::size_t most = pass.operations.message_limits().batch_bytes / (2 * peers * width);
  const std::size_t chunk = std::min(longest, std::max<std::size_t>(most, 1));
  for (std::size_t k = 0; k * chunk < longest; ++k) {
    const auto messages = pass.operations.messages(request.data.memory);
    const Range mine = pass.shard().chunk(k, chunk);
    for_each_peer(pass, [&](int peer) {
      const Range theirs = pass.layout.shard(peer).chunk(k, chunk);
      messages->receive(peer, own + theirs.begin * width, theirs.size() * width);
    });
    for_each_peer(pass,
                  [&](int peer) { messages->send(peer, own + mine.begin * width, mine.size() * width); });
    messages->finish();
  }
}

}  // namespace foldstep::fold
