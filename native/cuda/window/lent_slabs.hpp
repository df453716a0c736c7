#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda/side_stream.hpp"

namespace foldstep::cuda {

/// Members of a window: bit i stands for place i.
using Places = std::uint64_t;

/// Slabs that their owner has given up and that other ranks may still reach: CUDA leaves it undefined to free
/// what another process has mapped. A rank that has died never says that it is done, so that what it was lent
/// stays until this process ends. Thread-safe.
class LentSlabs {
 public:
  /// Takes over memory of cudaMalloc that begins with a SignalPad, in which each of `borrowers` will say that
  /// it is done.
  void add(std::byte* block, Places borrowers);
  /// Frees what nobody borrows any more. It may wait for running kernels, as cudaFree does.
  void sweep(SideStream& side_stream);
  bool empty() const;

 private:
  struct Slab {
    std::byte* block;
    Places borrowers;
  };

  mutable std::mutex mutex_;
  std::vector<Slab> slabs_;
};

}  // namespace foldstep::cuda
