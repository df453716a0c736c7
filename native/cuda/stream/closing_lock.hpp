#pragma once

#include <chrono>
#include <mutex>

#include "cuda/stream/stream_worker.hpp"

namespace foldstep::cuda {

/// Waits for the mutex, which another stream may hold for as long as it waits for other ranks, but not beyond
/// the closing of the worker's stream. Errors: Code::Aborted.
inline std::unique_lock<std::timed_mutex> lock_unless_closing(std::timed_mutex& mutex,
                                                              const StreamWorker& worker) {
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(10))) worker.throw_if_closing();
  return lock;
}

}  // namespace foldstep::cuda
