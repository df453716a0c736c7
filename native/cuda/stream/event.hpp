#pragma once

#include <cuda_runtime_api.h>

namespace foldstep::cuda {

/// A point that a stream passes.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Behind everything that has been enqueued on `stream`.
  void record(cudaStream_t stream);
  /// What is enqueued on `stream` from now on waits for it.
  void hold_back(cudaStream_t stream) const;
  /// True also if it was never recorded. Errors: Code::DeviceFailed if the device has failed before it.
  bool passed() const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace foldstep::cuda
