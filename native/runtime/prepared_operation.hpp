#pragma once

#include <span>

#include "runtime/stream.hpp"

namespace foldstep {

/// A device operation that was checked once. Each call enqueues it.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;
  /// `values` may differ from call to call. The function that prepared the operation says which it takes.
  /// Errors, at once: Code::InvalidArgument, InvalidLength.
  virtual void enqueue(Stream& stream, std::span<const double> values) = 0;
};

}  // namespace foldstep
