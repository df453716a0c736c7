#include "cpu/mpi/threaded_request.hpp"

#include <chrono>
#include <utility>

namespace foldstep::cpu {

ThreadedRequest::ThreadedRequest(std::function<void()> body)
    : done_(std::async(std::launch::async, std::move(body))) {}

bool ThreadedRequest::test() {
  // Asleep, so that the call has this thread's core.
  if (done_.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) return false;
  done_.get();
  return true;
}

}  // namespace foldstep::cpu
