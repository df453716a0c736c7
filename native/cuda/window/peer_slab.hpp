#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "cuda/context.hpp"
#include "cuda/kernels/signal_pad.hpp"
#include "cuda/memory/device_memory.hpp"
#include "cuda/window/lent_slabs.hpp"

namespace foldstep::cuda {

/// One rank's memory in a window: its signal pad, then what its users see.
class PeerSlab {
 public:
  /// From the pad to the data.
  static constexpr std::size_t header_bytes = (sizeof(SignalPad) + 4095) / 4096 * 4096;

  /// 128 random bits: processes of different containers may have the same pid.
  using Process = std::array<std::uint32_t, 4>;

  /// How another rank finds it. Plain bytes.
  struct Address {
    cudaIpcMemHandle_t handle;
    Process process{};
    std::byte* local = nullptr;  ///< in its own process
  };

  /// This rank's own, of cudaMalloc: zeroed, with its pad as new, lent to nobody. Errors: Code::OutOfMemory,
  /// DeviceFailed.
  static std::shared_ptr<PeerSlab> create(const std::shared_ptr<Context>& context, std::size_t bytes);
  /// This rank's own in zeroed memory that there is already; its pad becomes as new. Errors:
  /// Code::DeviceFailed.
  static std::shared_ptr<PeerSlab> create_in(Context& context, std::shared_ptr<std::byte> block);
  /// Another rank's, in memory that this device reaches already.
  explicit PeerSlab(std::shared_ptr<std::byte> block) : block_(std::move(block)) {}
  /// Another rank's, mapped by CUDA IPC; `self` is this rank's place in the window. Errors:
  /// Code::PathUnavailable if this device cannot reach it.
  static std::shared_ptr<PeerSlab> open(const std::shared_ptr<Context>& context, const Address& address,
                                        int self);

  /// Errors: Code::PathUnavailable where devices' memory cannot be shared between processes.
  Address address() const;
  /// Of what create() gave: its memory stays until each of `borrowers` has opened it and let it go.
  void lend(Places borrowers) { borrowers_->store(borrowers); }

  SignalPad* pad() const { return reinterpret_cast<SignalPad*>(block_.get()); }
  std::byte* data() const { return block_.get() + header_bytes; }

 private:
  std::shared_ptr<std::byte> block_;
  std::shared_ptr<std::atomic<Places>> borrowers_;  // of what create() gave
};

}  // namespace foldstep::cuda
