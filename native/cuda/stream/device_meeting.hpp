#pragma once

#include <exception>

#include "cuda/kernels/signal_pad.hpp"

namespace foldstep::cuda {

/// Kernels on a stream that wait for other ranks, on behalf of one operation.
class DeviceMeeting {
 public:
  virtual ~DeviceMeeting() = default;

  /// What the device says of a meeting that has failed, as an error. Nobody meets there any more.
  virtual std::exception_ptr fail(const Status& status) = 0;
  /// Ends the wait: its stream is being closed.
  virtual void cancel() = 0;
};

}  // namespace foldstep::cuda
