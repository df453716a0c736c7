#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cpu/comm/transport.hpp"
#include "cpu/stream.hpp"
#include "runtime/announcement.hpp"

namespace foldstep::cpu {

/// Where the members of a communicator tell each other what they are about to do: one small message from each
/// to each. Nobody goes on before everybody has come, so a member is at most one round ahead, and since
/// messages of a pair keep their order the n-th announcement received belongs to the n-th round.
class Rendezvous {
 public:
  Rendezvous(std::shared_ptr<Transport> transport, std::chrono::milliseconds deadline);

  /// Every member is about to do the same. Errors: Code::OperationMismatch, DeadlineExceeded, PeerExited,
  /// Aborted; after one of them the rendezvous may not be used again.
  void meet(Announcement mine, const Cancelled& cancelled);

  /// The same, and what each member sends to another is what that one expects: `sends` and `expects` are
  /// elements, one per member. A second round makes known to all what only two of them can see.
  void meet_blocks(Announcement mine, const std::vector<std::size_t>& sends,
                   const std::vector<std::size_t>& expects, const Cancelled& cancelled);

 private:
  using Accept = std::function<void(int member, const Announcement& theirs)>;
  struct Round;
  /// Sends one announcement to each member and calls `accept` with each that comes, this rank's own left out,
  /// as it comes; `accept` throws to end the round.
  void exchange(const std::vector<Announcement>& outgoing, const Accept& accept, const Cancelled& cancelled);
  void collect(Round& round, const Accept& accept, const Cancelled& cancelled);
  void check_same(const Announcement& mine, int member, const Announcement& theirs) const;
  /// World ranks whose announcements have not come, else those that do not take this rank's.
  std::vector<int> awaited(const Round& round) const;
  [[noreturn]] void fail_left(const Round& round, int peer, const char* how) const;
  [[noreturn]] void fail_late(const Round& round) const;
  int self() const { return world_ranks_[static_cast<std::size_t>(transport_->rank())]; }

  std::shared_ptr<Transport> transport_;
  std::chrono::milliseconds deadline_;
  std::vector<int> world_ranks_;
  std::uint64_t sequence_ = 0;
};

}  // namespace foldstep::cpu
