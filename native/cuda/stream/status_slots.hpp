#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cuda/kernels/signal_pad.hpp"
#include "cuda/memory/pinned_memory.hpp"

namespace foldstep::cuda {

/// Pinned places that a stream's status is copied to. Thread-safe.
class StatusSlots {
 public:
  using Slot = std::shared_ptr<Status>;

  /// Free again when it is let go, after the copy has ended.
  Slot take();

 private:
  struct Pool {
    std::mutex mutex;
    std::vector<std::shared_ptr<PinnedMemory>> blocks;
    std::vector<Status*> free;
  };
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace foldstep::cuda
