#pragma once

#include <atomic>
#include <memory>

#include "cuda/context.hpp"
#include "cuda/cuda_kernels.hpp"
#include "cuda/kernels/signal_pad.hpp"
#include "runtime/backend.hpp"

namespace foldstep::cuda {

/// One NVIDIA GPU.
class CudaBackend final : public Backend {
 public:
  /// `host` carries what goes over MPI. Errors: Code::DeviceUnavailable, DeviceFailed.
  CudaBackend(const BackendOptions& options, std::shared_ptr<Backend> host);

  std::vector<std::pair<std::string, std::string>> describe() const override;
  Ledger& ledger() override { return context_->ledger; }
  void reset_peaks() override;
  Kernels& kernels() override { return kernels_; }

  std::shared_ptr<Stream> create_stream() override;
  std::shared_ptr<Memory> allocate(std::size_t bytes) override;
  std::shared_ptr<Memory> allocate_host(std::size_t bytes) override;
  std::shared_ptr<Memory> wrap(std::byte* address, std::size_t bytes) override;
  std::shared_ptr<Communicator> join(std::shared_ptr<Communicator> world) override;
  void create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                     std::function<void(std::shared_ptr<PeerWindow>)> done) override;
  void fold(Stream& stream, std::shared_ptr<const FoldTeam> team,
            std::function<void(FoldOperations&)> body) override;
  int most_members() const override { return max_members; }

 private:
  std::shared_ptr<Context> context_;
  CudaKernels kernels_;
  std::atomic<const char*> carrier_{"none"};  // of the world's collectives
};

}  // namespace foldstep::cuda
