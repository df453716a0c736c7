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
  /// `bytes.begin` of what the member announced as its data, or as its accumulator; the caller goes on to
  /// `bytes.end`.
  virtual Place data_of(int member, Range bytes) const = 0;
  virtual Place accumulator_of(int member, Range bytes) const = 0;
  /// Nothing behind it runs before every member has come here. What they wrote before is seen after.
  virtual void barrier() = 0;
};

/// Messages between members that are under way together. Those of a pair arrive in the order in which both
/// name them.
class MessageBatch {
 public:
  virtual ~MessageBatch() = default;
  /// Nothing moves for no bytes: the other side knows the length too.
  virtual void receive(int from, std::byte* data, std::size_t bytes) = 0;
  virtual void send(int to, const std::byte* data, std::size_t bytes) = 0;
  /// What follows sees all of them received, and may overwrite what was sent.
  virtual void finish() = 0;
};

/// Memory of the device for the length of one fold.
struct Temporary {
  std::byte* data = nullptr;
  std::shared_ptr<const void> owner;
};

/// How many bytes a backend's messages are best cut into.
struct MessageLimits {
  std::size_t receive_bytes;    ///< of a buffer that all other members' elements are received into
  std::size_t receive_buffers;  ///< 1, or 2 where the next messages travel while the last are summed
  std::size_t batch_bytes;      ///< that are sent and received in one batch
};

/// What a backend does for the fold while one is run, or issued, on a stream. Behind each operation the
/// next sees its results. Errors: those of the communicator and of the window.
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
  /// The same on the communicator, and before that in the window, if there is one: a member that is about to
  /// do something else there does not come to the communicator.
  virtual void meet_on_communicator(const Descriptor& mine, const std::function<void()>& body) = 0;

  virtual MessageLimits message_limits() const = 0;
  /// `buffers` owns everything that is sent from and received into.
  virtual std::unique_ptr<MessageBatch> messages(std::shared_ptr<const void> buffers) = 0;
  /// Sums `count` FP32 elements over the team, in place, in the order that MPI or NCCL chooses.
  virtual void all_reduce(std::byte* values, std::size_t count, std::shared_ptr<const void> owner) = 0;

  /// Not zeroed; counted in the ledger.
  virtual Temporary temporary(std::size_t bytes) = 0;
};

}  // namespace foldstep
