#pragma once

#include <nccl.h>

#include <atomic>
#include <functional>
#include <memory>

#include "nccl_group.hpp"

namespace foldstep::simulated {

/// What a communicator and the operations it has under way share.
class CommState {
 public:
  explicit CommState(int device) : device(device) {}

  /// Does `task`; what it throws becomes the communicator's asynchronous error.
  void attempt(const std::function<void()>& task);
  ncclResult_t error() const { return error_; }
  void set_error(ncclResult_t result) { error_ = result; }
  /// Different for operations of one communicator that may be under way at the same time, and the same on all
  /// ranks.
  int next_tag();

  const int device;
  Group group;

 private:
  std::atomic<ncclResult_t> error_{ncclSuccess};
  std::atomic<unsigned> operations_{0};
};

}  // namespace foldstep::simulated

struct ncclComm {
  std::shared_ptr<foldstep::simulated::CommState> state;
};
