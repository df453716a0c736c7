#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "runtime/ledger.hpp"

namespace foldstep::cuda {

class PinnedMemory;

/// Pinned host memory for the length of one operation. A block of up to `kept_bytes` is kept when it comes
/// back: pinning pages costs more than what is done with them. Thread-safe.
class PinnedPool {
 public:
  static constexpr std::size_t kept_bytes = std::size_t{2} << 20;

  /// Not zeroed, counted in `ledger`. Whoever lets go of it has seen to it that the device uses it no more.
  /// The block may outlive this object. Errors: Code::OutOfMemory.
  std::shared_ptr<PinnedMemory> take(Ledger& ledger, std::size_t bytes);

 private:
  struct Spare {
    std::mutex mutex;
    std::shared_ptr<PinnedMemory> block;
  };
  std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
};

}  // namespace foldstep::cuda
