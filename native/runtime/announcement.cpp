#include "runtime/announcement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iomanip>
#include <iterator>
#include <sstream>

#include "runtime/dtype.hpp"

namespace foldstep {
namespace {

enum class Second { None, Operator, Root };

/// What the details of the communicator's own operations mean; those of other operations are shown as
/// numbers.
struct Reading {
  std::string_view operation;
  bool typed;
  Second second;
};
constexpr std::array<Reading, 7> readings{{{"barrier", false, Second::None},
                                           {"all-reduce", true, Second::Operator},
                                           {"reduce-scatter", true, Second::Operator},
                                           {"all-gather", true, Second::None},
                                           {"broadcast", true, Second::Root},
                                           {"all-to-all", true, Second::None},
                                           {"split", false, Second::None}}};

}  // namespace

Announcement announce(std::string_view operation, std::size_t count, std::uint64_t first_detail,
                      std::uint64_t second_detail) {
  Announcement announcement;
  operation.copy(announcement.operation, sizeof announcement.operation - 1);
  announcement.count = count;
  announcement.detail[0] = first_detail;
  announcement.detail[1] = second_detail;
  return announcement;
}

Announcement announce(const Descriptor& d) {
  const auto facts = {static_cast<unsigned>(d.path), static_cast<unsigned>(d.type),
                      static_cast<unsigned>(d.accumulation), unsigned{d.mirror}, unsigned{d.sharded}};
  std::uint64_t packed = std::bit_cast<std::uint32_t>(d.scale);
  for (const unsigned fact : facts) packed = packed << 4 | fact;
  Announcement announcement = announce(name_of(d.operation), d.end - d.begin, packed, d.begin);
  announcement.detail[2] = d.shard_length;
  announcement.detail[3] = static_cast<std::uint64_t>(d.replicas);
  return announcement;
}

Announcement announce_typed(std::string_view operation, std::size_t count, DType type, ReduceOp op) {
  return announce(operation, count, static_cast<std::uint64_t>(type), static_cast<std::uint64_t>(op));
}

bool same(const Announcement& a, const Announcement& b) {
  return std::strncmp(a.operation, b.operation, sizeof a.operation) == 0 && a.sequence == b.sequence &&
         a.count == b.count && std::equal(std::begin(a.detail), std::end(a.detail), std::begin(b.detail));
}

std::string describe(const Announcement& announcement) {
  const std::string_view operation(announcement.operation,
                                   strnlen(announcement.operation, sizeof announcement.operation));
  std::ostringstream text;
  text << operation << " #" << announcement.sequence << " (count " << announcement.count;
  const auto* reading = std::find_if(readings.begin(), readings.end(),
                                     [&](const Reading& known) { return known.operation == operation; });
  if (reading == readings.end()) {
    text << ", details" << std::hex;
    for (const std::uint64_t word : announcement.detail) text << " 0x" << word;
  } else {
    if (reading->typed) text << ", " << name_of(static_cast<DType>(announcement.detail[0]));
    if (reading->second == Second::Operator)
      text << ", " << name_of(static_cast<ReduceOp>(announcement.detail[1]));
    if (reading->second == Second::Root) text << ", root " << announcement.detail[1];
  }
  text << ')';
  return text.str();
}

}  // namespace foldstep
