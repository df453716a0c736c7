#pragma once

#include <cstddef>
#include <vector>

#include "cuda/stream/stream_worker.hpp"
#include "runtime/dtype.hpp"

namespace foldstep::cuda {

/// What moves data between the members of a communicator of at least two. Called on an issuing thread, on
/// every member alike, after the members have met; addresses are the device's. No checks: CudaCommunicator
/// has them. Errors: Code::NcclFailed, DeadlineExceeded, Aborted, and those of the host's communicator.
class Transport {
 public:
  virtual ~Transport() = default;

  /// In place. BF16 is summed in FP32 in rank order and rounded once.
  virtual void all_reduce(StreamWorker& worker, std::byte* data, std::size_t count, DType type,
                          ReduceOp op) = 0;
  virtual void reduce_scatter(StreamWorker& worker, const std::byte* source, std::byte* target,
                              std::size_t count, DType type, ReduceOp op) = 0;
  virtual void all_gather(StreamWorker& worker, const std::byte* source, std::byte* target,
                          std::size_t bytes) = 0;
  virtual void broadcast(StreamWorker& worker, std::byte* data, std::size_t bytes, int root) = 0;

  /// Bytes to or from another member. Those of a pair arrive in the order in which both have them in their
  /// lists.
  struct Message {
    int peer;
    std::byte* data;
    std::size_t bytes;
  };
  /// All of them at once. Messages of no bytes are left out: the other side knows the length too.
  virtual void exchange(StreamWorker& worker, const std::vector<Message>& sends,
                        const std::vector<Message>& receives) = 0;

  /// At the end of an operation: sees to it that what was issued ends.
  virtual void look_after(StreamWorker& worker) = 0;
  /// Whether messages are copied on the way, through temporary memory of their length.
  virtual bool staged() const = 0;
};

}  // namespace foldstep::cuda
