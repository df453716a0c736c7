#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "random.hpp"

namespace foldstep::simulated {

/// A moment in a stream that others wait for.
class Moment {
 public:
  void reach();
  bool reached() const;
  void wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool reached_ = false;
};

/// Device of the thread that calls.
int current_device();

/// Whether `stream` is there, and is the null stream or one of `device`.
bool is_stream_of(cudaStream_t stream, int device);

/// Enqueues `task`; where a kernel of the stream has failed before, nothing is run any more. On the null
/// stream the task has run when this returns, after all of the streams that synchronize with it. Errors:
/// cudaErrorInvalidResourceHandle.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> task);
cudaError_t synchronize(cudaStream_t stream);
/// Waits for all streams of this process.
void synchronize_all();

/// Of `stream` and of nobody else's; asked for on its thread.
Random& random_of(cudaStream_t stream);

}  // namespace foldstep::simulated

struct CUstream_st {
 public:
  CUstream_st(int device, unsigned flags, unsigned number);
  ~CUstream_st();

  int device() const { return device_; }
  bool synchronizes_with_null() const { return (flags_ & cudaStreamNonBlocking) == 0; }
  foldstep::simulated::Random& random() { return random_; }
  void enqueue(std::function<void()> task);
  bool idle();
  void wait();

 private:
  void run();

  int device_;
  unsigned flags_;
  foldstep::simulated::Random random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  ///< the first of them is running
  bool ending_ = false;
  std::thread thread_;
};

struct CUevent_st {
  int device;
  std::mutex mutex;
  std::shared_ptr<foldstep::simulated::Moment> moment;  ///< of the last record; null before the first
};
