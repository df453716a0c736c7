#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/communicator.hpp"
#include "runtime/dtype.hpp"
#include "runtime/memory.hpp"

namespace foldstep {

/// Who checks what, for the text of an error.
struct Asked {
  std::string_view operation;
  int rank;  ///< world rank
};

/// `groups` blocks of `count` elements at the span. Errors: Code::InvalidArgument without memory,
/// Code::InvalidLength.
void check_span(const Asked& asked, std::string_view name, const Span& span, std::size_t groups,
                std::size_t count, DType type);

/// The two byte ranges have no byte in common. Errors: Code::InvalidArgument.
void check_apart(const Asked& asked, const Span& a, std::size_t a_bytes, const Span& b, std::size_t b_bytes);

/// One count and one offset per member, every block within the span. Errors: Code::InvalidArgument,
/// InvalidLength.
void check_blocks(const Asked& asked, std::string_view name, const Span& span,
                  const Communicator::Blocks& blocks, int members, DType type);

/// Errors: Code::InvalidArgument.
void check_root(const Asked& asked, int root, int members);
void check_color(const Asked& asked, int color);

}  // namespace foldstep
