#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/comm/cuda_communicator.hpp"
#include "cuda/context.hpp"
#include "cuda/kernels/kernels.hpp"
#include "cuda/stream/event.hpp"
#include "cuda/stream/stream_worker.hpp"
#include "cuda/window/peer_slab.hpp"
#include "runtime/error.hpp"
#include "runtime/fold_operations.hpp"
#include "runtime/peer_window.hpp"

namespace foldstep::cuda {

/// A slab of device memory per rank, mapped by all of them, and the meeting of ranks through the pads before
/// them. After an error of any kind it is poisoned: later turns throw the same error, and peers that wait for
/// this rank are told. Always owned by a shared_ptr.
class CudaWindow final : public PeerWindow, public std::enable_shared_from_this<CudaWindow> {
 public:
  /// On an issuing thread; collective. If one member fails, every member throws that member's error. Errors:
  /// Code::OutOfMemory, PathUnavailable, and those of the communicator.
  static std::shared_ptr<CudaWindow> create(StreamWorker& worker, CudaCommunicator& communicator,
                                            std::size_t bytes);
  CudaWindow(std::shared_ptr<Context> context, std::vector<std::shared_ptr<PeerSlab>> slabs,
             std::vector<int> world_ranks, int self, std::size_t bytes);
  /// Peers that wait for this rank from now on are told that it has gone.
  ~CudaWindow() override;
  CudaWindow(const CudaWindow&) = delete;
  CudaWindow& operator=(const CudaWindow&) = delete;

  std::shared_ptr<Memory> slab() const override { return slab_; }
  const std::vector<int>& world_ranks() const override { return world_ranks_; }

  /// On an issuing thread: runs `body` behind a meeting in which all `members` (places in the window, this
  /// rank among them) announce the same on `channel`. `mine.sequence` is filled in. Errors of the meeting
  /// come through the worker's status; those thrown here are of issuing, and of an earlier turn.
  void take_turn(StreamWorker& worker, int channel, const std::vector<int>& members, Descriptor mine,
                 const std::function<void(Peers&)>& body);

  /// Nobody meets here any more; peers are told. Gives the first failure.
  Error fail(const Error& error);
  /// Ends the kernels of this rank that wait here.
  void cancel(const Error& error);

 private:
  struct Channel {
    std::timed_mutex mutex;  ///< two streams take their turns one after the other
    std::uint32_t epoch = first_epoch;
    std::uint64_t sequence = 0;
    std::optional<Event> last;  ///< the end of the last turn
  };
  friend class WindowRegistry;
  class Turn;

  void rethrow_failure();
  void leave();
  void tell_peers(const Error& error);

  std::shared_ptr<Context> context_;
  std::vector<std::shared_ptr<PeerSlab>> slabs_;
  std::vector<int> world_ranks_;
  int self_;
  std::shared_ptr<Memory> slab_;
  std::array<Channel, channel_count> channels_;
  std::mutex failure_mutex_;
  std::optional<Error> failure_;
};

}  // namespace foldstep::cuda
