#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/communicator.hpp"
#include "runtime/dtype.hpp"
#include "runtime/memory.hpp"
#include "runtime/peer_window.hpp"
#include "runtime/stream.hpp"

namespace foldstep {

/// How the members of a group reach each other's data. See README, "Paths".
enum class Path : std::uint8_t { Direct = 0, Owner = 1, Exchange = 2, Library = 3 };

/// How a corrected gradient is added to the accumulator.
enum class Accumulation : std::uint8_t {
  FP32 = 0,  ///< acc + scale * sum, in FP32
  BF16 = 1,  ///< bf16(acc + bf16(scale * sum)), still stored as FP32
};

/// The group of a fused pass: its communicator, and the window over it where the members share memory.
/// Signal words of a window are kept apart by `channel` (0 to 15): two groups with a member in common use
/// different ones.
struct Team {
  std::shared_ptr<Communicator> communicator;
  std::shared_ptr<PeerWindow>
      window;  ///< null: only Path::Exchange and Path::Library, unless the group has one member
  int channel = 0;
};

/// Which elements of a flat layout of `length` elements a pass covers and where its results go. Member i of
/// the team is replica i % replicas of shard i / replicas; shard s is [s * shard_length, (s + 1) *
/// shard_length). Unsharded: replicas = team size, shard_length = length.
struct Geometry {
  std::size_t begin = 0;  ///< first element covered
  std::size_t end = 0;    ///< one past the last
  int replicas = 1;
  std::size_t shard_length = 0;
};

/// The fused passes over a team. In all of them members are summed in their order in the team, in FP32:
/// s = x_0, s = s + x_1, ..., and the result's bits do not depend on the path Direct, Owner or Exchange.
/// Spans point to element 0 of the flat layout, save where stated. On Direct and Owner, spans that peers
/// touch must lie in the team's window; peers learn their offsets from the descriptor that is exchanged on
/// entry.
class Fold {
 public:
  virtual ~Fold() = default;

  struct Accumulate {
    Path path = Path::Direct;
    DType gradient_type = DType::BF16;  ///< BF16 or F32
    Accumulation accumulation = Accumulation::FP32;
    bool mirror = false;  ///< write scale * sum back into the gradients, rounded to their type
    bool sharded =
        false;  ///< `accumulator` holds this rank's shard alone: its first element is the shard's first
    float scale = 1.0F;
    Geometry geometry;
    Span gradient;
    Span accumulator;  ///< FP32; replicas of a shard hold the same values, and do so afterwards
  };
  /// accumulator += scale * sum over the team of gradient, on this rank's shard. Returns control of the
  /// gradients when the stream has passed it.
  virtual void accumulate(Stream& stream, const Team& team, const Accumulate& request) = 0;

  struct Reduce {
    Path path = Path::Direct;
    DType type = DType::F32;  ///< F32 or BF16
    bool sharded = false;     ///< as in Accumulate; the team then has one shard
    float scale = 1.0F;
    Geometry geometry;
    Span data;
  };
  /// data = scale * sum over the team of data, in place, on this rank's shard. What lies in other shards is
  /// left as it was.
  virtual void reduce(Stream& stream, const Team& team, const Reduce& request) = 0;

  struct Gather {
    Path path = Path::Direct;
    DType type = DType::BF16;  ///< any type
    Geometry geometry;         ///< replicas must be 1
    Span data;
  };
  /// Every member's shard copied to every other member.
  virtual void gather(Stream& stream, const Team& team, const Gather& request) = 0;
};

}  // namespace foldstep
