#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "runtime/stream.hpp"

namespace foldstep::cpu {

/// Set when a stream is being closed: whatever waits for another rank looks at it and throws Code::Aborted.
using Cancelled = std::atomic<bool>;

/// One native thread and its queue. Tasks throw foldstep::Error.
class CpuStream final : public Stream {
 public:
  using Task = std::function<void(const Cancelled&)>;

  CpuStream();
  ~CpuStream() override;

  void enqueue(Task task);
  void notify(Callback callback) override;
  void close() override;

  /// The stream behind the interface: this backend's operations only ever meet its own streams.
  static CpuStream& of(Stream& stream) { return static_cast<CpuStream&>(stream); }

 private:
  struct Queue;
  // The thread has a share in it: a task may hold the last reference to its own stream.
  std::shared_ptr<Queue> queue_;
  std::thread thread_;
};

}  // namespace foldstep::cpu
