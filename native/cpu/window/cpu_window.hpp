#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/comm/cpu_communicator.hpp"
#include "cpu/context.hpp"
#include "cpu/stream.hpp"
#include "cpu/window/signals.hpp"
#include "runtime/peer_window.hpp"

namespace foldstep::cpu {

/// A slab per rank in shared memory. Each begins with the rank's signal words, which its users do not see.
class CpuWindow final : public PeerWindow {
 public:
  /// On a stream's thread; collective. If one member fails, every member throws that member's error.
  static std::shared_ptr<CpuWindow> create(std::shared_ptr<Context> context, CpuCommunicator& communicator,
                                           std::size_t bytes, const Cancelled& cancelled);

  /// Bytes of memory behind a slab of `bytes` bytes, its signal words included.
  static std::size_t block_bytes(std::size_t bytes);
  /// Puts a rank's signal words into its zeroed block, before any peer sees it.
  static void prepare(Memory& block);
  /// `blocks`: every member's memory, prepared; `processes`: where each lives.
  CpuWindow(std::shared_ptr<Context> context, std::vector<std::shared_ptr<Memory>> blocks,
            const std::vector<ProcessIdentity>& processes, std::vector<int> world_ranks, int self);

  std::shared_ptr<Memory> slab() const override { return slab_; }
  const std::vector<int>& world_ranks() const override { return world_ranks_; }

  /// Members are counted in the order of world_ranks().
  int size() const { return static_cast<int>(world_ranks_.size()); }
  std::byte* data(int member) const;
  std::size_t bytes() const { return slab_->bytes(); }
  Signals& signals() { return signals_; }

 private:
  std::vector<std::shared_ptr<Memory>> blocks_;
  std::vector<int> world_ranks_;
  std::shared_ptr<Memory> slab_;
  Signals signals_;
};

}  // namespace foldstep::cpu
