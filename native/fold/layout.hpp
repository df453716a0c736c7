#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "runtime/error.hpp"
#include "runtime/fold.hpp"
#include "runtime/range.hpp"

namespace foldstep {

/// A Geometry over the members of a team: who works on what.
class Layout {
 public:
  /// Errors: Code::InvalidArgument, InvalidLength.
  Layout(const Geometry& geometry, int members) : geometry_(geometry), members_(members) {
    if (geometry.replicas < 1 || members % geometry.replicas != 0) {
      throw Error(Code::InvalidArgument, std::to_string(geometry.replicas) +
                                             " replicas do not divide a team of " + std::to_string(members));
    }
    const auto shards = static_cast<std::size_t>(members / geometry.replicas);
    constexpr std::size_t widest = sizeof(double);
    const bool countable = geometry.shard_length <= std::numeric_limits<std::size_t>::max() / widest / shards;
    if (!countable || geometry.begin > geometry.end || geometry.end > shards * geometry.shard_length) {
      throw Error(Code::InvalidLength, "elements [" + std::to_string(geometry.begin) + ", " +
                                           std::to_string(geometry.end) + ") do not lie in " +
                                           std::to_string(shards) + " shards of " +
                                           std::to_string(geometry.shard_length));
    }
  }

  const Geometry& geometry() const { return geometry_; }
  int members() const { return members_; }
  int shards() const { return members_ / geometry_.replicas; }
  Range covered() const { return {geometry_.begin, geometry_.end}; }

  /// Bytes from element 0 to the end of what is covered.
  std::size_t extent(std::size_t width) const { return covered().size() == 0 ? 0 : geometry_.end * width; }

  int first_replica(int member) const { return member / geometry_.replicas * geometry_.replicas; }
  /// First element of the member's shard. The geometry may not cover it.
  std::size_t shard_origin(int member) const {
    return static_cast<std::size_t>(member / geometry_.replicas) * geometry_.shard_length;
  }
  /// The covered elements of the member's shard. Without any, the range is empty and begins at `begin`.
  Range shard(int member) const {
    const std::size_t origin = shard_origin(member);
    const std::size_t begin = std::max(geometry_.begin, origin);
    const std::size_t end = std::min(geometry_.end, origin + geometry_.shard_length);
    return begin < end ? Range{begin, end} : Range{geometry_.begin, geometry_.begin};
  }
  /// What the member alone works on: its part of its shard.
  Range owned(int member) const {
    return shard(member).part(static_cast<std::size_t>(member % geometry_.replicas),
                              static_cast<std::size_t>(geometry_.replicas));
  }
  /// Index of element `first` of the flat layout in the member's accumulator. `first` lies in the member's
  /// shard; if that is empty, the index is of no element.
  std::size_t accumulator_index(int member, bool sharded, std::size_t first) const {
    const std::size_t origin = sharded ? shard_origin(member) : 0;
    return std::max(first, origin) - origin;
  }
  /// Bytes from an accumulator's first element to the end of the covered part of the member's shard.
  std::size_t accumulator_extent(int member, bool sharded) const {
    const Range mine = shard(member);
    return mine.size() == 0 ? 0 : accumulator_index(member, sharded, mine.end) * sizeof(float);
  }
  /// One part of all covered elements for each member, without regard to shards.
  Range slice(int member) const {
    return covered().part(static_cast<std::size_t>(member), static_cast<std::size_t>(members_));
  }

 private:
  Geometry geometry_;
  int members_;
};

}  // namespace foldstep
