#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cuda/comm/cuda_communicator.hpp"
#include "cuda/stream/stream_worker.hpp"
#include "cuda/window/cuda_window.hpp"
#include "runtime/fold_operations.hpp"

namespace foldstep::cuda {

/// The operations of the fold on a CUDA device, while one fold is issued. Each call only enqueues. The
/// stream keeps the order.
class CudaOperations final : public FoldOperations {
 public:
  CudaOperations(StreamWorker& worker, const FoldTeam& team);

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
  class NamedBatch;

  int first_part(std::size_t sources) const;
  void issue_messages();

  StreamWorker& worker_;
  const FoldTeam& team_;
  CudaCommunicator& communicator_;
  CudaWindow* window_;  // null: none
  std::vector<Transport::Message> sends_;
  std::vector<Transport::Message> receives_;
};

}  // namespace foldstep::cuda
