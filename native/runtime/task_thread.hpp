#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace foldstep {

/// Set when a stream is being closed: whatever waits for another rank looks at it and throws Code::Aborted.
using Cancelled = std::atomic<bool>;

/// One native thread and its queue, as a Stream wants it: after a task has thrown, those behind it are
/// skipped up to the next callback, which is given the error.
class TaskThread {
 public:
  using Task = std::function<void(const Cancelled&)>;
  using Callback = std::function<void(std::exception_ptr)>;

  TaskThread();
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  /// Both throw Code::Disposed after close().
  void enqueue(Task task);
  void notify(Callback callback);
  /// Cancels, drops what has not begun (its callbacks get Code::Aborted) and ends the thread. Blocks only for
  /// the task that is running. Idempotent.
  void close();

 private:
  struct Queue;
  // The thread has a share in it: a task may hold the last reference to its own stream.
  std::shared_ptr<Queue> queue_;
  std::thread thread_;
};

}  // namespace foldstep
