#include "cpu/comm/backoff.hpp"

#include <algorithm>
#include <thread>

namespace foldstep::cpu {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

Backoff::Backoff(std::chrono::milliseconds deadline)
    : begin_(std::chrono::steady_clock::now()), deadline_(deadline) {}

void Backoff::pause() {
  waited_ = std::chrono::steady_clock::now() - begin_;
  if (waited_ < microseconds(20)) return;
  if (!worn()) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::min<nanoseconds>(waited_ / 32, microseconds(100)));
  }
}

}  // namespace foldstep::cpu
