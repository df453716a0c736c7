#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/comm/transport.hpp"
#include "cpu/stream.hpp"
#include "runtime/communicator.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {

/// What a rank is about to do, as its peers are told before any payload moves. Plain bytes.
struct Announcement {
  char operation[24] = {};       ///< "all-reduce", ...; zero-terminated
  std::uint64_t sequence = 0;    ///< operations of this communicator so far; filled in by meet()
  std::uint64_t count = 0;       ///< elements
  std::uint64_t detail[4] = {};  ///< what else must agree: type, operator, scale's bits, path, ...
};

/// Communicator over a Transport: before each operation the members meet (announcements are exchanged and compared), and
/// every wait has the deadline and sees the stream's cancellation.
class CpuCommunicator final : public Communicator {
 public:
  CpuCommunicator(std::shared_ptr<Transport> transport, std::chrono::milliseconds deadline);
  ~CpuCommunicator() override;

  int rank() const override;
  int size() const override;
  const std::vector<int>& world_ranks() const override;

  void barrier(Stream& stream) override;
  void all_reduce(Stream& stream, Span data, std::size_t count, DType type, ReduceOp op) override;
  void reduce_scatter(Stream& stream, Span source, Span target, std::size_t count, DType type, ReduceOp op) override;
  void all_gather(Stream& stream, Span source, Span target, std::size_t count, DType type) override;
  void broadcast(Stream& stream, Span data, std::size_t count, DType type, int root) override;
  void all_to_all(Stream& stream, Span source, const Blocks& send, Span target, const Blocks& receive,
                  DType type) override;
  void split(Stream& stream, int color, int key,
             std::function<void(std::shared_ptr<Communicator>)> done) override;

  // For this backend's own operations, on a stream's thread:

  /// Waits until every member is about to do the same. Throws OperationMismatch (both announcements in the text),
  /// DeadlineExceeded (the missing ranks named, `peer` the first), PeerExited, Aborted.
  void meet(Announcement mine, const Cancelled& cancelled);
  /// Waits for one operation of the transport. After an error the communicator is unusable and keeps the buffers'
  /// requests alive.
  void wait(Transport::Pending pending, const Cancelled& cancelled);
  Transport& transport() { return *transport_; }

 private:
  std::shared_ptr<Transport> transport_;
  std::chrono::milliseconds deadline_;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foldstep::cpu
