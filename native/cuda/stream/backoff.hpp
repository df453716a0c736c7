#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace foldstep::cuda {

/// How a host thread waits for its device: at first it only offers its core to others, then it sleeps for
/// longer and longer, up to 100 us.
class Backoff {
 public:
  void pause() {
    if (waited() < std::chrono::microseconds(50)) {
      std::this_thread::yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(sleep_ * 2, std::chrono::microseconds(100));
  }
  std::chrono::nanoseconds waited() const { return std::chrono::steady_clock::now() - begin_; }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::microseconds sleep_{5};
};

}  // namespace foldstep::cuda
