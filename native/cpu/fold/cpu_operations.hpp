#pragma once

#include <functional>
#include <memory>

#include "cpu/comm/cpu_communicator.hpp"
#include "cpu/context.hpp"
#include "cpu/stream.hpp"
#include "cpu/window/cpu_window.hpp"
#include "runtime/fold_operations.hpp"

namespace foldstep::cpu {

/// The operations of the fold on this host's processors, while one fold runs on a stream's thread. Each
/// has run when its call returns; only messages travel on.
class CpuOperations final : public FoldOperations {
 public:
  CpuOperations(Context& context, const FoldTeam& team, const Cancelled& cancelled);

  void sum_into_accumulators(const SumIntoAccumulators& sum) override;
  void sum_into_targets(const SumIntoTargets& sum) override;
  void copy(Place source, std::byte* target, std::size_t bytes) override;
  void cast(const std::byte* source, DType from, std::byte* target, std::size_t n) override;

  void meet_in_window(const Descriptor& mine, const std::function<void(Peers&)>& body) override;
  void meet_on_communicator(const Descriptor& mine, const std::function<void()>& body) override;

  MessageLimits message_limits() const override;
  std::unique_ptr<MessageBatch> messages(std::shared_ptr<const void> buffers) override;
  void all_reduce(std::byte* values, std::size_t count, std::shared_ptr<const void> owner) override;
  Temporary temporary(std::size_t bytes) override;

 private:
  Context& context_;
  const FoldTeam& team_;
  const Cancelled& cancelled_;
  std::shared_ptr<CpuCommunicator> communicator_;
  CpuWindow* window_;  // null: none
};

}  // namespace foldstep::cpu
