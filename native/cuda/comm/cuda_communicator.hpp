#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/comm/device_registry.hpp"
#include "cuda/comm/transport.hpp"
#include "cuda/stream/cuda_stream.hpp"
#include "runtime/announcement.hpp"
#include "runtime/communicator.hpp"

namespace foldstep::cuda {

/// Collectives on the device's memory. Before each, the members meet on the host's communicator; then a
/// Transport carries it. Always owned by a shared_ptr.
class CudaCommunicator final : public Communicator, public std::enable_shared_from_this<CudaCommunicator> {
 public:
  CudaCommunicator(std::shared_ptr<Communicator> host, std::shared_ptr<const DeviceRegistry> registry);

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  const std::vector<int>& world_ranks() const override { return host_->world_ranks(); }

  /// Also what every member has enqueued on the device before has run.
  void barrier(Stream& stream) override;
  void meet(Stream& stream, const Announcement& mine) override;
  void all_reduce(Stream& stream, Span data, std::size_t count, DType type, ReduceOp op) override;
  void reduce_scatter(Stream& stream, Span source, Span target, std::size_t count, DType type,
                      ReduceOp op) override;
  void all_gather(Stream& stream, Span source, Span target, std::size_t count, DType type) override;
  void broadcast(Stream& stream, Span data, std::size_t count, DType type, int root) override;
  void all_to_all(Stream& stream, Span source, const Blocks& send, Span target, const Blocks& receive,
                  DType type) override;
  void split(Stream& stream, int color, int key,
             std::function<void(std::shared_ptr<Communicator>)> done) override;

  // For this backend's own operations, on an issuing thread:

  /// Runs `body` once every member is about to do what `mine` says. After an error the communicator is
  /// unusable.
  void operate(StreamWorker& worker, const Announcement& mine, const std::function<void()>& body);
  /// Of at least two members.
  Transport& transport() { return *transport_; }
  Communicator& host() { return *host_; }
  int world_rank() const { return world_ranks()[static_cast<std::size_t>(rank())]; }
  /// "nccl", "host", or "none" in a group of one.
  const char* carrier() const;

 private:
  void enqueue(Stream& stream, const Announcement& mine, std::function<void(StreamWorker&)> body);
  void check_sizes(StreamWorker& worker, const Blocks& send, const Blocks& receive);

  std::shared_ptr<Communicator> host_;
  std::shared_ptr<const DeviceRegistry> registry_;
  std::unique_ptr<Transport> transport_;  // null in a group of one
  /// An operation is announced and issued before the next one begins, whatever streams they are on.
  std::timed_mutex operation_;
  std::exception_ptr failure_;
};

}  // namespace foldstep::cuda
