#include <algorithm>
#include <vector>

#include "cuda/fold/paths.hpp"
#include "cuda/fold/places.hpp"

namespace foldstep::cuda {

namespace {

/// Calls `visit` with every other member, beginning behind this one, so that the members do not all turn to
/// the same one at once.
template <typename Visit>
void for_each_peer(const Members& members, const Visit& visit) {
  for (int i = 1; i < members.size(); ++i) visit((members.index() + i) % members.size());
}

}  // namespace

void pull_gather(const Pass& pass, CudaWindow::Turn& turn, const Fold::Gather& request) {
  const std::size_t width = size_of(request.type);
  auto* const own = request.data.as<std::byte>();
  for_each_peer(pass.members, [&](int peer) {
    const Range shard = pass.layout.shard(peer);
    copy(pass.lane.launch(), turn.data_of(peer, shard.begin * width), own + shard.begin * width,
         shard.size() * width);
  });
  turn.barrier();
}

void exchange_gather(const Pass& pass, const Fold::Gather& request) {
  const std::size_t width = size_of(request.type);
  auto* const own = request.data.as<std::byte>();
  Transport& transport = pass.members.communicator().transport();
  std::size_t longest = 0;
  for (int m = 0; m < pass.members.size(); ++m) longest = std::max(longest, pass.layout.shard(m).size());
  if (longest == 0) return;
  // Copies on the way go there and back for every peer.
  const auto peers = static_cast<std::size_t>(pass.members.size() - 1);
  const std::size_t fitting = std::max<std::size_t>(PinnedPool::kept_bytes / (2 * peers * width), 1);
  const std::size_t chunk = transport.staged() ? std::min(longest, fitting) : longest;
  for (std::size_t k = 0; k * chunk < longest; ++k) {
    std::vector<Transport::Message> out;
    std::vector<Transport::Message> in;
    const auto message = [&](int peer, const Range& range) {
      return Transport::Message{peer, own + range.begin * width, range.size() * width};
    };
    for_each_peer(pass.members, [&](int peer) {
      out.push_back(message(peer, pass.layout.shard(pass.members.index()).chunk(k, chunk)));
      in.push_back(message(peer, pass.layout.shard(peer).chunk(k, chunk)));
    });
    transport.exchange(pass.lane, out, in);
  }
}

}  // namespace foldstep::cuda
