#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/comm/cpu_communicator.hpp"
#include "runtime/fold_operations.hpp"

namespace foldstep::cpu {

/// Messages over a communicator's transport. Each starts when `send` or `receive` is called. If a batch is
/// destroyed before its messages end, the open requests and their buffers stay until the process ends.
class MpiBatch final : public MessageBatch {
 public:
  /// `buffers` owns the memory of all messages, sent and received.
  MpiBatch(std::shared_ptr<CpuCommunicator> communicator, std::shared_ptr<const void> buffers,
           const Cancelled& cancelled);
  ~MpiBatch() override;
  MpiBatch(const MpiBatch&) = delete;
  MpiBatch& operator=(const MpiBatch&) = delete;

  void receive(int from, std::byte* data, std::size_t bytes) override;
  void send(int to, const std::byte* data, std::size_t bytes) override;
  void finish() override;

 private:
  std::shared_ptr<CpuCommunicator> communicator_;
  std::shared_ptr<const void> buffers_;
  const Cancelled& cancelled_;
  std::vector<Transport::Pending> pending_;
};

}  // namespace foldstep::cpu
