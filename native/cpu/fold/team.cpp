#include "cpu/fold/team.hpp"

namespace foldstep::cpu {

Members::Members(const Team& team)
    : communicator_(std::static_pointer_cast<CpuCommunicator>(team.communicator)),
      window_(std::static_pointer_cast<CpuWindow>(team.window)),
      channel_(team.channel) {
  if (window_) places_ = places_in(*window_, *communicator_);
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

}  // namespace foldstep::cpu
