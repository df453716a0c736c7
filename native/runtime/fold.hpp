#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/communicator.hpp"
#include "runtime/dtype.hpp"
#include "runtime/memory.hpp"
#include "runtime/names.hpp"
#include "runtime/peer_window.hpp"

namespace foldstep {

/// How the members of a team reach each other's data. See docs/paths.md.
enum class Path : std::uint8_t { Direct = 0, Owner = 1, Exchange = 2, Library = 3 };
template <>
struct Names<Path> {
  static constexpr std::array<std::string_view, 4> all{"direct", "owner", "exchange", "library"};
};

/// How a corrected gradient is added to the accumulator.
enum class Accumulation : std::uint8_t {
  FP32 = 0,  ///< acc + scale * sum, in FP32
  BF16 = 1,  ///< bf16(acc + bf16(scale * sum)), still stored as FP32
};
template <>
struct Names<Accumulation> {
  static constexpr std::array<std::string_view, 2> all{"fp32", "bf16"};
};

/// Number of channels of a window. See Team::channel.
constexpr int channel_count = 16;

/// The group of a fold: a communicator, and a window if the members share memory. Two teams with a member in
/// common must use different channels of a window.
struct Team {
  std::shared_ptr<Communicator> communicator;
  /// Without a window, a team of several members can use only Path::Exchange and Path::Library.
  std::shared_ptr<PeerWindow> window;
  int channel = 0;  ///< 0 to channel_count - 1
};

/// Which elements of a flat layout a fold covers and where its results go. Member i of the team is replica
/// i % replicas of shard i / replicas. Shard s is [s * shard_length, (s + 1) * shard_length). Where nothing
/// is sharded, replicas is the team's size and shard_length the layout's length.
struct Geometry {
  std::size_t begin = 0;  ///< first element covered
  std::size_t end = 0;    ///< one past the last
  int replicas = 1;
  std::size_t shard_length = 0;
};

// The three folds. Members are summed in their order in the team, in FP32: s = x_0, s = s + x_1, ... The
// result's bits are the same on Direct, Owner and Exchange. Spans begin with element 0 of the flat layout
// unless their comment says otherwise. On Direct and Owner, spans that peers touch lie in the team's window.

/// accumulator += scale * sum over the team of gradient, on this rank's shard. The caller may overwrite the
/// gradients after the stream has passed this operation.
struct AccumulateRequest {
  Path path = Path::Direct;
  DType gradient_type = DType::BF16;  ///< BF16 or F32
  Accumulation accumulation = Accumulation::FP32;
  bool mirror = false;   ///< write scale * sum back into the gradients, rounded to their type
  bool sharded = false;  ///< `accumulator` begins with the first element of this rank's shard
  float scale = 1.0F;
  Geometry geometry;
  Span gradient;
  Span accumulator;  ///< FP32; all replicas of a shard hold the same values, before and after
};

/// data = scale * sum over the team of data, in place, on this rank's shard. Other shards stay as they were.
struct ReduceRequest {
  Path path = Path::Direct;
  DType type = DType::F32;  ///< F32 or BF16
  bool sharded = false;     ///< as in AccumulateRequest; allowed only if the team has one shard
  float scale = 1.0F;
  Geometry geometry;
  Span data;
};

/// Copies every member's shard to every other member.
struct GatherRequest {
  Path path = Path::Direct;
  DType type = DType::BF16;  ///< any type
  Geometry geometry;         ///< replicas must be 1
  Span data;
};

}  // namespace foldstep
