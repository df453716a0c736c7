#pragma once

#include <functional>
#include <memory>

#include "cuda/comm/transport.hpp"
#include "cuda/memory/pinned_memory.hpp"
#include "runtime/communicator.hpp"

namespace foldstep::cuda {

/// Collectives of the host's communicator on pinned copies of the data. Each waits for the stream, and the
/// stream for it.
class HostTransport final : public Transport {
 public:
  explicit HostTransport(std::shared_ptr<Communicator> host) : host_(std::move(host)) {}

  void all_reduce(StreamWorker& worker, std::byte* data, std::size_t count, DType type, ReduceOp op) override;
  void reduce_scatter(StreamWorker& worker, const std::byte* source, std::byte* target, std::size_t count,
                      DType type, ReduceOp op) override;
  void all_gather(StreamWorker& worker, const std::byte* source, std::byte* target,
                  std::size_t bytes) override;
  void broadcast(StreamWorker& worker, std::byte* data, std::size_t bytes, int root) override;
  void exchange(StreamWorker& worker, const std::vector<Message>& sends,
                const std::vector<Message>& receives) override;
  void look_after(StreamWorker&) override {}
  bool staged() const override { return true; }

 private:
  std::shared_ptr<Communicator> host_;
};

}  // namespace foldstep::cuda
