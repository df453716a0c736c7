#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/descriptor.hpp"
#include "runtime/dtype.hpp"
#include "runtime/fold.hpp"
#include "runtime/place.hpp"
#include "runtime/range.hpp"

namespace foldstep {

/// acc = acc + scale * (x_0 + x_1 + ...), n elements from the given places.
struct SumIntoAccumulators {
  std::vector<Place> sources;       ///< at least one, in the team's order; may be `mirrors`
  std::vector<Place> accumulators;  ///< FP32; at least one: read from the first, stored to all
  std::vector<Place> mirrors;       ///< scale * sum, rounded to `type`, stored to all
  DType type = DType::BF16;         ///< of sources and mirrors: BF16 or F32
  Accumulation accumulation = Accumulation::FP32;
  float scale = 1.0F;
  std::size_t n = 0;
};

/// y = scale * (x_0 + x_1 + ...), n elements from the given places, stored to every target.
struct SumIntoTargets {
  std::vector<Place> sources;  ///< at least one, in the team's order
  std::vector<Place> targets;  ///< each may be one of the sources
  DType type = DType::F32;     ///< F32 or BF16, of sources and targets
  float scale = 1.0F;
  std::size_t n = 0;
};

/// A team with the place of each member in its window.
struct FoldTeam {
  std::shared_ptr<Communicator> communicator;
  std::shared_ptr<PeerWindow> window;
  int channel = 0;
  std::vector<int> places;

  int size() const { return communicator->size(); }
  int self() const { return communicator->rank(); }
};

/// The members of a team that have met in their window. Members are counted in the team.
class Peers {
 public:
  virtual ~Peers() = default;
  /// The place of byte `bytes.begin` in the data, or in the accumulator, that the member announced. The
  /// caller uses the bytes up to `bytes.end`.
  virtual Place data_of(int member, Range bytes) const = 0;
  virtual Place accumulator_of(int member, Range bytes) const = 0;
  /// Waits for every member. Operations after the barrier see what all members wrote before it.
  virtual void barrier() = 0;
};

/// Messages that travel at the same time. Between two members, both name the messages in one order, and they
/// arrive in that order.
class MessageBatch {
 public:
  virtual ~MessageBatch() = default;
  /// With 0 bytes there is no message. The other side knows the length and does not wait for one.
  virtual void receive(int from, std::byte* data, std::size_t bytes) = 0;
  virtual void send(int to, const std::byte* data, std::size_t bytes) = 0;
  /// Operations after `finish` see all received data. They may overwrite what was sent.
  virtual void finish() = 0;
};

/// Device memory that one fold uses while it runs.
struct Temporary {
  std::byte* data = nullptr;
  std::shared_ptr<const void> owner;
};

/// The best message sizes for a backend.
struct MessageLimits {
  std::size_t receive_bytes;    ///< size of a buffer that receives the elements of all other members
  std::size_t receive_buffers;  ///< 1, or 2 where the next messages travel while the last are summed
  std::size_t batch_bytes;      ///< most bytes, sent and received, in one batch
};

/// The operations of a backend from which a fold is built. A fold calls them while it runs, or is issued, on
/// a stream. Each operation sees the results of the one before. Errors: those of the communicator and of the
/// window.
class FoldOperations {
 public:
  virtual ~FoldOperations() = default;

  virtual void sum_into_accumulators(const SumIntoAccumulators& sum) = 0;
  virtual void sum_into_targets(const SumIntoTargets& sum) = 0;
  virtual void copy(Place source, std::byte* target, std::size_t bytes) = 0;
  /// BF16 to F32, or F32 to BF16 rounded to nearest even.
  virtual void cast(const std::byte* source, DType from, std::byte* target, std::size_t n) = 0;

  /// Runs `body` once all members are about to do what `mine` says, in the window.
  virtual void meet_in_window(const Descriptor& mine, const std::function<void(Peers&)>& body) = 0;
  /// Runs `body` after a meeting on the communicator. If there is a window, the members first meet there: a
  /// member that announces another operation there fails, and does not come to the communicator.
  virtual void meet_on_communicator(const Descriptor& mine, const std::function<void()>& body) = 0;

  virtual MessageLimits message_limits() const = 0;
  /// `buffers` owns the memory of all messages, sent and received.
  virtual std::unique_ptr<MessageBatch> messages(std::shared_ptr<const void> buffers) = 0;
  /// Sums `count` FP32 elements over the team, in place, in the order that MPI or NCCL chooses.
  virtual void all_reduce(std::byte* values, std::size_t count, std::shared_ptr<const void> owner) = 0;

  /// Not zeroed; counted in the ledger.
  virtual Temporary temporary(std::size_t bytes) = 0;
};

}  // namespace foldstep
