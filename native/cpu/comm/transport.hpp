#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/dtype.hpp"

namespace foldstep::cpu {

/// A nonblocking operation under way. Its buffers stay in place until test() has been true once.
class Request {
 public:
  virtual ~Request() = default;
  virtual bool test() = 0;
  /// The members whose messages have not come or have not been taken; none where that cannot be told, as
  /// inside a collective.
  virtual std::vector<int> awaited() { return {}; }
};

/// One MPI communicator's nonblocking primitives, or those of a rank alone. No deadlines, no checks:
/// Communicator has them. Types: F32, F64, I32, U8 for reductions; bytes for everything else. A sum that does
/// not fit its integer type wraps or saturates, as the MPI library has it. Tags: 0 to 31999; those above are
/// taken.
class Transport {
 public:
  using Pending = std::unique_ptr<Request>;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::vector<int> world_ranks() const = 0;

  virtual Pending send(const void* data, std::size_t bytes, int to, int tag) = 0;
  virtual Pending receive(void* data, std::size_t bytes, int from, int tag) = 0;
  virtual Pending all_reduce(void* data, std::size_t count, DType type, ReduceOp op) = 0;
  virtual Pending reduce_scatter(const void* source, void* target, std::size_t count, DType type,
                                 ReduceOp op) = 0;
  virtual Pending all_gather(const void* source, void* target, std::size_t bytes) = 0;
  virtual Pending broadcast(void* data, std::size_t bytes, int root) = 0;
  /// Byte counts and offsets, one of each per rank.
  virtual Pending all_to_all(const void* source, const std::vector<std::size_t>& send_bytes,
                             const std::vector<std::size_t>& send_offsets, void* target,
                             const std::vector<std::size_t>& receive_bytes,
                             const std::vector<std::size_t>& receive_offsets) = 0;
  virtual Pending barrier() = 0;
  /// The process of that rank has said goodbye (close_world(0)). What it sent before may still be under way.
  virtual bool has_left(int /*rank*/) { return false; }
  /// Puts this rank's group into `part`, which stays in place as a buffer does.
  virtual Pending split(int color, int key, std::unique_ptr<Transport>& part) = 0;
};

}  // namespace foldstep::cpu
