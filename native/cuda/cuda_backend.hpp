#pragma once

#include <atomic>
#include <memory>

#include "cuda/context.hpp"
#include "cuda/cuda_kernels.hpp"
#include "cuda/fold/cuda_fold.hpp"
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
  Fold& fold() override { return fold_; }

  std::shared_ptr<Stream> create_stream() override;
  std::shared_ptr<Memory> allocate(std::size_t bytes) override;
  std::shared_ptr<Memory> allocate_host(std::size_t bytes) override;
  std::shared_ptr<Memory> wrap(std::byte* address, std::size_t bytes) override;
  std::shared_ptr<Communicator> join(std::shared_ptr<Communicator> world) override;
  void create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                     std::function<void(std::shared_ptr<PeerWindow>)> done) override;

 private:
  std::shared_ptr<Context> context_;
  CudaKernels kernels_;
  CudaFold fold_;
  std::atomic<const char*> carrier_{"none"};  // of the world's collectives
};

}  // namespace foldstep::cuda
