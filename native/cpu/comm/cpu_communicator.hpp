#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "cpu/comm/transport.hpp"
#include "cpu/stream.hpp"
#include "runtime/announcement.hpp"
#include "runtime/communicator.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {

/// Communicator over a Transport: before each operation the members meet (announcements are exchanged and
/// compared), and every wait has the deadline and sees the stream's cancellation. Operations that are
/// enqueued keep it alive, so it is always owned by a shared_ptr.
class CpuCommunicator final : public Communicator, public std::enable_shared_from_this<CpuCommunicator> {
 public:
  CpuCommunicator(std::shared_ptr<Transport> transport, std::chrono::milliseconds deadline);
  ~CpuCommunicator() override;

  int rank() const override;
  int size() const override;
  const std::vector<int>& world_ranks() const override;

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

  // For this backend's own operations, on a stream's thread:

  /// Waits until every member is about to do the same. Throws OperationMismatch (both announcements in the
  /// text), DeadlineExceeded (the missing ranks named, `peer` the first), PeerExited, Aborted.
  void meet(Announcement mine, const Cancelled& cancelled);
  /// Waits for one operation of the transport. After an error the communicator is unusable, and the request
  /// lives on together with `buffers`, since MPI may still write there.
  void wait(Transport::Pending pending, const Cancelled& cancelled,
            std::shared_ptr<const void> buffers = nullptr);
  Transport& transport() { return *transport_; }

 private:
  template <typename Body>
  void enqueue(Stream& stream, Body body);
  template <typename Body>
  void enqueue_met(Stream& stream, const Announcement& mine, Body body);
  template <typename Body>
  void guarded(Body body);

  std::shared_ptr<Transport> transport_;
  std::chrono::milliseconds deadline_;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foldstep::cpu
