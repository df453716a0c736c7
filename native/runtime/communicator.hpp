#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/dtype.hpp"
#include "runtime/memory.hpp"
#include "runtime/stream.hpp"

namespace foldstep {

struct Announcement;

/// A group of ranks and its collectives. Every member must enqueue the same operations in the same order; one
/// that does something else is found out before any payload moves (Code::OperationMismatch on every member),
/// one that does not come within the deadline is named (Code::DeadlineExceeded). After either the
/// communicator refuses further use. Counts are elements. Buffers may not overlap unless stated.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  ///< index of this rank in the group
  virtual int size() const = 0;
  virtual const std::vector<int>& world_ranks() const = 0;  ///< of the members, in order

  virtual void barrier(Stream& stream) = 0;
  /// Passes when every member is about to do what `mine` says; its sequence is filled in.
  virtual void meet(Stream& stream, const Announcement& mine) = 0;
  /// In place. BF16 is summed in FP32 in rank order and rounded once.
  virtual void all_reduce(Stream& stream, Span data, std::size_t count, DType type, ReduceOp op) = 0;
  /// `source` holds size() * count elements, `target` count: the sum's part of this rank.
  virtual void reduce_scatter(Stream& stream, Span source, Span target, std::size_t count, DType type,
                              ReduceOp op) = 0;
  /// `source` holds count elements, `target` size() * count.
  virtual void all_gather(Stream& stream, Span source, Span target, std::size_t count, DType type) = 0;
  virtual void broadcast(Stream& stream, Span data, std::size_t count, DType type, int root) = 0;
  /// `counts` and `offsets` in elements, one of each per member. A member's send count to another must be
  /// what that one expects to receive from it.
  struct Blocks {
    std::vector<std::size_t> counts;
    std::vector<std::size_t> offsets;
  };
  virtual void all_to_all(Stream& stream, Span source, const Blocks& send, Span target, const Blocks& receive,
                          DType type) = 0;

  /// Members with the same colour form a group, ordered by (key, rank). `done` is called on the stream's
  /// thread with this rank's group before the stream goes on; it is not called if the split fails.
  virtual void split(Stream& stream, int color, int key,
                     std::function<void(std::shared_ptr<Communicator>)> done) = 0;
};

}  // namespace foldstep
