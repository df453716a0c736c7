#pragma once

#include <nccl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "nccl_group.hpp"

namespace foldstep::simulated {

/// What a communicator and the operations it has under way share.
class CommState {
 public:
  CommState(int device, bool blocking) : device(device), blocking(blocking) {}

  /// Stands in the way of abort(): what NCCL writes into memory of the caller it writes before, or not at
  /// all.
  template <typename Task>
  void unless_aborted(const Task& task) {
    const std::lock_guard lock(mutex_);
    group.check_alive();
    task();
  }
  void abort();

  /// Does `task`; what it throws becomes the communicator's asynchronous error.
  void attempt(const std::function<void()>& task);
  ncclResult_t error() const { return error_; }
  void set_error(ncclResult_t result) { error_ = result; }
  /// Different for operations of one communicator that may be under way at the same time, and the same on all
  /// ranks.
  int next_tag();

  const int device;
  const bool blocking;
  Group group;

 private:
  std::atomic<ncclResult_t> error_{ncclSuccess};
  std::atomic<unsigned> operations_{0};
  std::mutex mutex_;
};

/// Does `task`, in the background unless the communicator blocks; what it throws becomes the communicator's
/// asynchronous error.
ncclResult_t perform(const std::shared_ptr<CommState>& state, std::function<void()> task);
/// Comes to a collective. A rank that has been dropped waits here until somebody gives up.
void come(CommState& state);
/// Does `begin` when the group that this thread has open ends, or else at once.
ncclResult_t begin_in_group(std::function<ncclResult_t()> begin);

}  // namespace foldstep::simulated

struct ncclComm {
  std::shared_ptr<foldstep::simulated::CommState> state;
};
