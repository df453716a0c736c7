#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
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
  struct Item {
    Task task;
    Callback callback;
  };
  void push(Item item);
  void run();
  void process(Item& item);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> queue_;
  bool closed_ = false;
  Cancelled cancelled_{false};
  std::exception_ptr failure_;  // of the stream's thread alone
  std::thread thread_;
};

}  // namespace foldstep::cpu
