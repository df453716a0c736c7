#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/descriptor.hpp"

namespace foldstep {

/// What a rank is about to do, as its peers are told before any payload moves. Plain bytes.
struct Announcement {
  char operation[24] = {};       ///< "all-reduce", ...; zero-terminated
  std::uint64_t sequence = 0;    ///< operations of this communicator so far; filled in by meet()
  std::uint64_t count = 0;       ///< elements
  std::uint64_t detail[4] = {};  ///< what else must agree: type, operator, scale's bits, path, ...
};

Announcement announce(std::string_view operation, std::size_t count = 0, std::uint64_t first_detail = 0,
                      std::uint64_t second_detail = 0);

/// Of a collective.
Announcement announce_typed(std::string_view operation, std::size_t count, DType type,
                            ReduceOp op = ReduceOp::Sum);
/// Of a fused pass that meets on its communicator.
Announcement announce(const Descriptor& descriptor);

/// The same operation, sequence, count and details.
bool same(const Announcement& a, const Announcement& b);

/// For people: "all-reduce #3 (count 1024, float32, sum)".
std::string describe(const Announcement& announcement);

}  // namespace foldstep
