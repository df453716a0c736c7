#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cpu/context.hpp"
#include "cpu/stream.hpp"
#include "cpu/window/process.hpp"
#include "cpu/window/signal_block.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {

/// The meeting of ranks through words in shared memory. After an error of any kind it is poisoned: later
/// turns throw the same error, and peers that wait for this rank are given it.
class Signals {
 public:
  struct Peer {
    SignalBlock* block = nullptr;
    ProcessIdentity process;
    int world_rank = 0;
  };

  /// One operation of a group of ranks, from the moment that all are about to do the same.
  class Turn {
   public:
    /// What a member announced. `member` counts within the group.
    const Descriptor& descriptor(std::size_t member) const;
    /// Returns when every member has come here. What they wrote before is seen after.
    void barrier();

   private:
    friend class Signals;
    using Clock = std::chrono::steady_clock;

    Turn(Signals& signals, int channel, const std::vector<int>& members, const Cancelled& cancelled);
    void enter(const Descriptor& mine);
    void wait_for(int peer, Clock::time_point start);
    bool poll(int peer) const;
    bool spin(int peer, Clock::time_point start) const;
    void sleep(int peer, Clock::time_point start) const;
    bool has_come(int peer) const;
    /// Throws if this stream is being closed, or if a member that has not come never will.
    void check_absent(bool look_at_processes) const;
    [[noreturn]] void throw_failure_of(int peer) const;
    /// Throws, unless the last member has come at this very moment.
    void give_up() const;
    SignalBlock::Channel& channel_of(int peer) const;
    int rank_of(int peer) const;

    Signals& signals_;
    int channel_;
    const std::vector<int>& members_;
    const Cancelled& cancelled_;
    std::uint32_t epoch_;
    Descriptor mine_;
  };

  /// `self` is this rank's place in `peers`. The blocks outlive this object.
  Signals(std::shared_ptr<Context> context, std::vector<Peer> peers, int self);
  /// Peers that wait for this rank from now on are told that it has gone.
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// This process is about to end well: as the destructor, for every window that is still there.
  static void leave_all();

  /// Waits until all `members` (places in `peers`, this rank among them) announce the same on `channel`, then
  /// runs `body`. `mine.sequence` is filled in. Errors: OperationMismatch, DeadlineExceeded, PeerExited,
  /// Aborted, what `body` throws, and what an earlier turn threw.
  void take_turn(int channel, const std::vector<int>& members, Descriptor mine, const Cancelled& cancelled,
                 const std::function<void(Turn&)>& body);

 private:
  struct Channel {
    std::mutex mutex;  ///< two streams take their turns one after the other
    std::uint32_t epoch = SignalBlock::first_epoch;
    std::uint64_t sequence = 0;
  };

  void leave();
  /// This rank has not come after all: its data is its caller's again, and whoever comes now must not read
  /// it. Where members disagree all have come, and all find out by themselves.
  void retreat(int channel);
  void rethrow_failure();
  void fail(const Error& error);
  void leave_state(SignalBlock::State state);

  std::shared_ptr<Context> context_;
  std::vector<Peer> peers_;
  int self_;
  std::array<Channel, channel_count> channels_;
  std::mutex failure_mutex_;
  std::optional<Error> failure_;
};

}  // namespace foldstep::cpu
