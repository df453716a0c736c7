#pragma once

#include <memory>
#include <vector>

#include "cuda/stream/device_meeting.hpp"
#include "cuda/window/cuda_window.hpp"

namespace foldstep::cuda {

/// A turn in a window, for what becomes of it on the device.
class WindowMeeting final : public DeviceMeeting {
 public:
  /// `members` are places in the window, `self` this rank's index among them.
  WindowMeeting(std::shared_ptr<CudaWindow> window, const std::vector<int>& members, int self,
                const Descriptor& mine);

  std::exception_ptr fail(const Status& status) override;
  void cancel() override;

 private:
  Error error_of(const Status& status) const;
  Error aborted() const;
  int rank_of(int member) const;
  int about(const Abort& abort, int otherwise) const;

  std::shared_ptr<CudaWindow> window_;
  std::vector<int> ranks_;  // of the members in the world
  int self_rank_;
  Descriptor mine_;
};

}  // namespace foldstep::cuda
