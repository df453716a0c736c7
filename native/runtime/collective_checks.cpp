#include "runtime/collective_checks.hpp"

#include <limits>
#include <string>

#include "runtime/error.hpp"

namespace foldstep {
namespace {

[[noreturn]] void refuse(const Asked& asked, Code code, const std::string& what) {
  throw Error(code, std::string(asked.operation) + " on rank " + std::to_string(asked.rank) + ": " + what,
              asked.rank);
}

/// a * b, or the largest number if that does not fit.
std::size_t times(std::size_t a, std::size_t b) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return b != 0 && a > most / b ? most : a * b;
}

void check_bytes(const Asked& asked, std::string_view name, const Span& span, std::size_t bytes,
                 const std::string& wanted) {
  if (span.memory == nullptr) refuse(asked, Code::InvalidArgument, std::string(name) + " has no memory");
  const std::size_t held = span.memory->bytes();
  if (span.offset <= held && bytes <= held - span.offset) return;
  refuse(asked, Code::InvalidLength,
         std::string(name) + " needs " + wanted + " at byte " + std::to_string(span.offset) +
             ", but its buffer has " + std::to_string(held) + " bytes");
}

}  // namespace

void check_span(const Asked& asked, std::string_view name, const Span& span, std::size_t groups,
                std::size_t count, DType type) {
  const std::size_t elements = times(groups, count);
  check_bytes(asked, name, span, times(elements, size_of(type)),
              std::to_string(elements) + " elements of " + std::string(name_of(type)));
}

void check_apart(const Asked& asked, const Span& a, std::size_t a_bytes, const Span& b, std::size_t b_bytes) {
  if (a.memory != b.memory || a.offset + a_bytes <= b.offset || b.offset + b_bytes <= a.offset) return;
  if (a_bytes == 0 || b_bytes == 0) return;
  refuse(asked, Code::InvalidArgument, "source and target overlap; give them memory of their own");
}

void check_blocks(const Asked& asked, std::string_view name, const Span& span,
                  const Communicator::Blocks& blocks, int members, DType type) {
  const auto wanted = static_cast<std::size_t>(members);
  if (blocks.counts.size() != wanted || blocks.offsets.size() != wanted) {
    refuse(asked, Code::InvalidArgument,
           std::string(name) + " has " + std::to_string(blocks.counts.size()) + " counts and " +
               std::to_string(blocks.offsets.size()) + " offsets for " + std::to_string(members) +
               " members; give one of each per member");
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t begin = times(blocks.offsets[i], size_of(type));
    const std::size_t bytes = times(blocks.counts[i], size_of(type));
    const std::size_t end = bytes > std::numeric_limits<std::size_t>::max() - begin
                                ? std::numeric_limits<std::size_t>::max()
                                : begin + bytes;
    check_bytes(asked, name, span, end,
                "block " + std::to_string(i) + " of " + std::to_string(blocks.counts[i]) + " elements of " +
                    std::string(name_of(type)) + " at element " + std::to_string(blocks.offsets[i]));
  }
}

void check_root(const Asked& asked, int root, int members) {
  if (root >= 0 && root < members) return;
  refuse(asked, Code::InvalidArgument,
         "the root is " + std::to_string(root) + " of " + std::to_string(members) + " members; give 0 to " +
             std::to_string(members - 1));
}

void check_color(const Asked& asked, int color) {
  if (color >= 0) return;
  refuse(asked, Code::InvalidArgument,
         "the colour is " + std::to_string(color) + "; give one that is not negative");
}

}  // namespace foldstep
