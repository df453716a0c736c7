#pragma once

#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "cuda/context.hpp"
#include "cuda/kernels/signal_pad.hpp"
#include "cuda/memory/device_memory.hpp"

namespace foldstep::cuda {

/// One rank's memory in a window: its signal pad, then what its users see.
class PeerSlab {
 public:
  /// From the pad to the data.
  static constexpr std::size_t header_bytes = (sizeof(SignalPad) + 4095) / 4096 * 4096;

  /// How another rank finds it. Plain bytes.
  struct Address {
    cudaIpcMemHandle_t handle;
    pid_t process = 0;
    std::byte* local = nullptr;  ///< in its own process
  };

  /// This rank's own, of cudaMalloc: zeroed, with its pad as new. Errors: Code::OutOfMemory, DeviceFailed.
  static std::shared_ptr<PeerSlab> create(const std::shared_ptr<Context>& context, std::size_t bytes);
  /// This rank's own in zeroed memory that there is already; its pad becomes as new. Errors:
  /// Code::DeviceFailed.
  static std::shared_ptr<PeerSlab> create_in(Context& context, std::shared_ptr<std::byte> block);
  /// Another rank's, in memory that this device reaches already.
  explicit PeerSlab(std::shared_ptr<std::byte> block) : block_(std::move(block)) {}
  /// Another rank's, mapped by CUDA IPC. Errors: Code::PathUnavailable if this device cannot reach it.
  static std::shared_ptr<PeerSlab> open(std::shared_ptr<Context> context, const Address& address);

  /// Errors: Code::PathUnavailable where devices' memory cannot be shared between processes.
  Address address() const;

  SignalPad* pad() const { return reinterpret_cast<SignalPad*>(block_.get()); }
  std::byte* data() const { return block_.get() + header_bytes; }

 private:
  std::shared_ptr<std::byte> block_;
};

}  // namespace foldstep::cuda
