#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace foldstep::cpu {

/// "rank 3" or "ranks 2, 3".
std::string list_ranks(const std::vector<int>& ranks);

/// What a rank that has waited in vain can tell.
struct Diagnosis {
  std::string text;  ///< such as "; rank 3 (process 4711) is stopped"; empty if nothing is known
  int peer = -1;     ///< of the awaited ranks the one that most likely causes the wait
};

/// Of the awaited ranks, and of every other rank of the job that is stopped or has ended: who waits for one
/// that is well may wait, by way of that one, for one that is not.
Diagnosis diagnose(const std::vector<int>& awaited);

/// Of these ranks the likely causes of a wait: those that have ended or are stopped; where there are none,
/// those on other hosts; where there are none either, all.
std::vector<int> likely_causes(const std::vector<int>& ranks);

/// Finds out during a wait that a rank has ended without a word. It asks the host, and so does it rarely.
class LivenessCheck {
 public:
  /// The first of `awaited` that has ended, -1 if none has or if it is not yet time to look again.
  int find_ended(const std::vector<int>& awaited, std::chrono::nanoseconds waited);
  bool is_due(std::chrono::nanoseconds waited) const { return waited >= next_; }

 private:
  std::chrono::nanoseconds next_ = std::chrono::milliseconds(100);
};

}  // namespace foldstep::cpu
