#pragma once

#include <chrono>

namespace foldstep::cpu {

/// How a thread waits for other ranks: at first it keeps its core, then offers it to others, then sleeps for
/// longer and longer, up to 100 us. Ranks may outnumber cores, so that the one waited for may need this very
/// core.
class Backoff {
 public:
  explicit Backoff(std::chrono::milliseconds deadline);

  /// Lets a little time pass.
  void pause();
  bool expired() const { return waited_ >= deadline_; }
  /// The wait has become long: a poll that costs something is worth it.
  bool worn() const { return waited_ >= std::chrono::milliseconds(1); }
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  std::chrono::steady_clock::time_point begin_;
  std::chrono::nanoseconds deadline_;
  std::chrono::nanoseconds waited_{0};
};

}  // namespace foldstep::cpu
