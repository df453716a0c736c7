#pragma once

#include <memory>

#include "cpu/context.hpp"
#include "cpu/cpu_kernels.hpp"
#include "runtime/backend.hpp"

namespace foldstep {

namespace cpu {

/// The processors of this host.
class CpuBackend final : public Backend {
 public:
  /// Errors: Code::InvalidArgument if FOLDSTEP_INSTRUCTION_SET names one that is not there.
  explicit CpuBackend(const BackendOptions& options);
  explicit CpuBackend(std::shared_ptr<Context> context);

  std::vector<std::pair<std::string, std::string>> describe() const override;
  Ledger& ledger() override { return context_->ledger; }
  Kernels& kernels() override { return kernels_; }

  std::shared_ptr<Stream> create_stream() override;
  std::shared_ptr<Memory> allocate(std::size_t bytes) override;
  std::shared_ptr<Memory> allocate_host(std::size_t bytes) override { return allocate(bytes); }
  std::shared_ptr<Memory> wrap(std::byte* address, std::size_t bytes) override;
  std::shared_ptr<Communicator> join(std::shared_ptr<Communicator> world) override { return world; }
  void create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                     std::function<void(std::shared_ptr<PeerWindow>)> done) override;
  void fold(Stream& stream, std::shared_ptr<const FoldTeam> team,
            std::function<void(FoldOperations&)> body) override;

 private:
  std::shared_ptr<Context> context_;
  CpuKernels kernels_;
};

}  // namespace cpu

/// The backend that runs on this host's processors.
std::shared_ptr<Backend> create_cpu_backend(const BackendOptions& options);

}  // namespace foldstep
