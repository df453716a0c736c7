#pragma once

#include <memory>
#include <vector>

#include "cpu/comm/transport.hpp"

namespace foldstep::cpu {

/// The collectives of a group of one: copies, done at once, no MPI. There is nobody to send to:
/// Code::Internal.
class AloneTransport final : public Transport {
 public:
  explicit AloneTransport(int world_rank) : world_rank_(world_rank) {}

  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<int> world_ranks() const override { return {world_rank_}; }

  Pending send(const void* data, std::size_t bytes, int to, int tag) override;
  Pending receive(void* data, std::size_t bytes, int from, int tag) override;
  Pending all_reduce(void* data, std::size_t count, DType type, ReduceOp op) override;
  Pending reduce_scatter(const void* source, void* target, std::size_t count, DType type,
                         ReduceOp op) override;
  Pending all_gather(const void* source, void* target, std::size_t bytes) override;
  Pending broadcast(void* data, std::size_t bytes, int root) override;
  Pending all_to_all(const void* source, const std::vector<std::size_t>& send_bytes,
                     const std::vector<std::size_t>& send_offsets, void* target,
                     const std::vector<std::size_t>& receive_bytes,
                     const std::vector<std::size_t>& receive_offsets) override;
  Pending barrier() override;
  Pending split(int color, int key, std::unique_ptr<Transport>& part) override;

 private:
  int world_rank_;
};

}  // namespace foldstep::cpu
