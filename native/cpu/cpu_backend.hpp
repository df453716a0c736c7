#pragma once

#include <memory>

#include "cpu/context.hpp"
#include "cpu/cpu_kernels.hpp"
#include "cpu/fold/cpu_fold.hpp"
#include "runtime/backend.hpp"

namespace foldstep::cpu {

/// The processors of this host.
class CpuBackend final : public Backend {
 public:
  /// Errors: Code::InvalidArgument if FOLDSTEP_INSTRUCTION_SET names one that is not there.
  explicit CpuBackend(const BackendOptions& options);

  std::vector<std::pair<std::string, std::string>> describe() const override;
  Ledger& ledger() override { return context_->ledger; }
  Kernels& kernels() override { return kernels_; }
  Fold& fold() override { return fold_; }

  std::shared_ptr<Stream> create_stream() override;
  std::shared_ptr<Memory> allocate(std::size_t bytes) override;
  std::shared_ptr<Memory> allocate_host(std::size_t bytes) override { return allocate(bytes); }
  std::shared_ptr<Memory> wrap(std::byte* address, std::size_t bytes) override;
  std::shared_ptr<Communicator> join(std::shared_ptr<Communicator> world) override { return world; }
  void create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                     std::function<void(std::shared_ptr<PeerWindow>)> done) override;

 private:
  std::shared_ptr<Context> context_;
  CpuKernels kernels_;
  CpuFold fold_;
};

}  // namespace foldstep::cpu
