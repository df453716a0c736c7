#pragma once

#include <utility>

#include "runtime/stream.hpp"
#include "runtime/task_thread.hpp"

namespace foldstep::cpu {

/// One native thread and its queue. Tasks throw foldstep::Error.
class CpuStream final : public Stream {
 public:
  void enqueue(TaskThread::Task task) { thread_.enqueue(std::move(task)); }
  void notify(Callback callback) override { thread_.notify(std::move(callback)); }
  void close() override { thread_.close(); }

  /// The stream behind the interface: this backend's operations only ever meet its own streams.
  static CpuStream& of(Stream& stream) { return static_cast<CpuStream&>(stream); }

 private:
  TaskThread thread_;
};

}  // namespace foldstep::cpu
