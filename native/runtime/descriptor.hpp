#pragma once

#include <cstdint>
#include <string>

#include "numerics/bits.hpp"
#include "runtime/dtype.hpp"
#include "runtime/fold.hpp"

namespace foldstep {

enum class Operation : std::uint8_t { Accumulate = 0, Reduce = 1, Gather = 2 };
template <>
struct Names<Operation> {
  static constexpr std::array<std::string_view, 3> all{"accumulate", "reduce", "gather"};
};

/// What a rank is about to do, as its peers read it from shared memory. Plain bytes.
struct Descriptor {
  std::uint64_t sequence = 0;  ///< operations on the channel so far, counted from 1
  std::uint64_t begin = 0;     ///< elements, as in Geometry
  std::uint64_t end = 0;
  std::uint64_t shard_length = 0;
  std::uint64_t team = 0;  ///< hash of the members' world ranks
  std::int32_t replicas = 0;
  float scale = 1.0F;
  Operation operation = Operation::Accumulate;
  Path path = Path::Direct;
  DType type = DType::BF16;
  Accumulation accumulation = Accumulation::FP32;
  bool mirror = false;
  bool sharded = false;

  // Of this rank alone:
  std::uint64_t data_offset =
      0;  ///< of the gradients, or of what is reduced or gathered; bytes into the slab
  std::uint64_t accumulator_offset = 0;  ///< bytes into the slab

  /// Whether ranks that announce these two are about to do the same. NaN scales agree if their bits do.
  FOLDSTEP_HD bool agrees_with(const Descriptor& other) const {
    return sequence == other.sequence && begin == other.begin && end == other.end &&
           shard_length == other.shard_length && team == other.team && replicas == other.replicas &&
           numerics::bits_of(scale) == numerics::bits_of(other.scale) && operation == other.operation &&
           path == other.path && type == other.type && accumulation == other.accumulation &&
           mirror == other.mirror && sharded == other.sharded;
  }
  /// "operation 3: direct accumulate of 1024 elements [0, 1024) of bfloat16, ..."
  std::string text() const;
};

/// What a request is, this rank's own places left out.
Descriptor describe(const AccumulateRequest& request);
Descriptor describe(const ReduceRequest& request);
Descriptor describe(const GatherRequest& request);

}  // namespace foldstep
