#pragma once

#include <nccl.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "cuda/comm/nccl_library.hpp"
#include "cuda/context.hpp"
#include "cuda/stream/stream_worker.hpp"
#include "runtime/communicator.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

/// An ncclComm_t that never blocks: whatever it does is polled, with a deadline. After a failure it is
/// aborted, and every later use throws.
class NcclGroup : public std::enable_shared_from_this<NcclGroup> {
 public:
  /// Collective over `host`: the first member's id is broadcast there. Errors: Code::NcclFailed,
  /// DeadlineExceeded, Aborted, and those of `host`.
  static std::shared_ptr<NcclGroup> create(StreamWorker& worker, Communicator& host);
  NcclGroup(std::shared_ptr<Context> context, int world_rank);
  /// Hands the communicator to the reaper, since taking it down may wait for other ranks.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// Enqueues NCCL operations on the worker's stream, as one group.
  void run(StreamWorker& worker, std::string_view doing,
           const std::function<ncclResult_t(ncclComm_t)>& enqueue);
  /// Watches what was enqueued on the worker until it has passed.
  void look_after(StreamWorker& worker);
  /// Calls `release` with the communicator, unless it was aborted, and with it all that it held.
  void release(const std::function<void(ncclComm_t)>& release);

 private:
  void initialize(StreamWorker& worker, int size, const ncclUniqueId& id, int rank);
  void settle(const StreamWorker& worker, std::string_view doing, ncclResult_t result);
  std::exception_ptr watch(StreamWorker& worker, const Event& passed, const std::atomic<bool>& closing);
  std::exception_ptr give_up(StreamWorker& worker, const Error& error);
  Error failure(std::string_view doing, ncclResult_t result) const;
  Error late(std::string_view doing) const;
  Error closed() const;
  /// Every later use throws `reason`.
  void abort(const Error& reason);

  std::shared_ptr<Context> context_;
  const NcclLibrary& nccl_;
  int world_rank_;
  std::mutex mutex_;                   // NCCL allows one call at a time on a communicator
  ncclComm_t communicator_ = nullptr;  // null: aborted, or not there yet
  std::optional<Error> aborted_for_;
};

}  // namespace foldstep::cuda
