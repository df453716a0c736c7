#include "cuda/fold/team.hpp"

#include <string>

namespace foldstep::cuda {

Members::Members(const Team& team)
    : communicator_(std::static_pointer_cast<CudaCommunicator>(team.communicator)),
      window_(std::static_pointer_cast<CudaWindow>(team.window)),
      channel_(team.channel) {
  if (size() > max_members) {
    throw Error(Code::InvalidArgument, "a team on CUDA devices has at most " + std::to_string(max_members) +
                                           " members, not " + std::to_string(size()));
  }
  if (window_) places_ = places_in(*window_, *communicator_);
}

void Members::meet(Lane& lane, Descriptor mine, const std::function<void(CudaWindow::Turn*)>& body) const {
  if (!window_) return body(nullptr);
  mine.team = hash_of(communicator_->world_ranks());
  window_->take_turn(lane, channel_, places_, mine, [&](CudaWindow::Turn& turn) { body(&turn); });
}

}  // namespace foldstep::cuda
