#pragma once

#include <functional>
#include <future>

#include "cpu/comm/transport.hpp"

namespace foldstep::cpu {

/// A call of MPI's that blocks until other ranks come, as a request: it runs on a thread of its own, so that
/// whoever waits for it keeps its deadline. A request that is given up must be kept, since MPI cannot take
/// the call back.
class ThreadedRequest final : public Request {
 public:
  /// `body` makes its call by Session::blocking_call; what it throws, test() throws.
  explicit ThreadedRequest(std::function<void()> body);
  bool test() override;

 private:
  std::future<void> done_;
};

}  // namespace foldstep::cpu
