#pragma once

#include <span>

#include "runtime/stream.hpp"

namespace foldstep {

/// A device operation that was checked once. Each call enqueues it.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;
  /// `values` are what may differ from call to call; what prepared it says which. Errors, at once:
  /// Code::InvalidArgument, InvalidLength.
  virtual void enqueue(Stream& stream, std::span<const double> values) = 0;
};

}  // namespace foldstep
