#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cpu/comm/transport.hpp"
#include "runtime/task_thread.hpp"

namespace foldstep::cpu {

/// The wait for one operation of a transport, whose members have met: until then nothing was sent, from now
/// on MPI alone knows who is late.
class Completion {
 public:
  /// `world_ranks`: of the members; `self`: this rank's place among them.
  Completion(const std::vector<int>& world_ranks, int self, std::chrono::milliseconds deadline)
      : world_ranks_(world_ranks), self_(self), deadline_(deadline) {}

  /// Errors: Code::DeadlineExceeded, PeerExited, Aborted; each names whom this rank waits for.
  void wait_for(Request& operation, const Cancelled& cancelled) const;

 private:
  int own_rank() const { return world_ranks_[static_cast<std::size_t>(self_)]; }
  /// World ranks: those whose messages are missing, else every other member.
  std::vector<int> awaited(Request& operation) const;
  [[noreturn]] void fail_late(Request& operation) const;

  const std::vector<int>& world_ranks_;
  int self_;
  std::chrono::milliseconds deadline_;
};

}  // namespace foldstep::cpu
