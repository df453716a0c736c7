#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "cpu/comm/transport.hpp"

namespace foldstep::cpu {

/// An MPI communicator, which it owns.
class MpiTransport final : public Transport {
 public:
  /// A copy of MPI_COMM_WORLD. Collective.
  static std::unique_ptr<Transport> of_world();
  explicit MpiTransport(MPI_Comm comm);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<int> world_ranks() const override { return world_ranks_; }

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
  bool has_left(int rank) override;
  Pending split(int color, int key, std::unique_ptr<Transport>& part) override;

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<int> world_ranks_;
};

}  // namespace foldstep::cpu
