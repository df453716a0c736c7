#pragma once

#include <exception>

#include "cuda/kernels/signal_pad.hpp"

namespace foldstep::cuda {

/// Kernels on a stream that wait for other ranks, on behalf of one operation.
class DeviceMeeting {
 public:
  virtual ~DeviceMeeting() = default;

  /// Makes an error from the device's status of a failed meeting. After that, nobody can meet there.
  virtual std::exception_ptr fail(const Status& status) = 0;
  /// Ends the wait: its stream is being closed.
  virtual void cancel() = 0;
};

}  // namespace foldstep::cuda
