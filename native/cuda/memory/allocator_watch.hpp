#pragma once

#include <cstddef>
#include <mutex>

namespace foldstep::cuda {

/// What CUDA's own allocator says of the current device: the most that has been taken of its memory since
/// `reset`, by whichever process.
class AllocatorWatch {
 public:
  void reset();
  /// After an allocation.
  void look();
  std::size_t peak_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::size_t free_at_reset_ = 0;
  std::size_t least_free_ = 0;
};

}  // namespace foldstep::cuda
