#include "runtime/task_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/spin.hpp"

namespace foldstep {

struct TaskThread::Queue {
  struct Item {
    Task task;
    Callback callback;
  };

  void push(Item item) {
    {
      const std::lock_guard lock(mutex);
      if (closed) throw Error(Code::Disposed, "the stream is closed; create another one");
      items.push_back(std::move(item));
      waiting.store(items.size(), std::memory_order_release);
    }
    wake.notify_one();
  }

  void close() {
    {
      const std::lock_guard lock(mutex);
      closed = true;
    }
    cancelled.store(true);
    wake.notify_one();
  }

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      if (items.empty() && !closed) {
        lock.unlock();
        linger();
        lock.lock();
      }
      wake.wait(lock, [this] { return closed || !items.empty(); });
      if (items.empty()) return;
      Item item = std::move(items.front());
      items.pop_front();
      waiting.store(items.size(), std::memory_order_relaxed);
      lock.unlock();
      process(item);
      item = {};  // what the task held is let go outside the lock
      lock.lock();
    }
  }

  /// Waits a while for the next item without a sleep, because each push would have to wake the
  /// thread. It yields the core between two looks.
  void linger() const {
    look_again(std::chrono::steady_clock::now(), [this] {
      if (waiting.load(std::memory_order_acquire) != 0 || cancelled.load(std::memory_order_relaxed))
        return true;
      std::this_thread::yield();
      return false;
    });
  }

  void process(Item& item) {
    if (item.callback) {
      item.callback(std::exchange(failure, nullptr));
      return;
    }
    if (failure) return;
    try {
      if (cancelled.load()) throw Error(Code::Aborted, "the stream was closed before this operation began");
      item.task(cancelled);
    } catch (...) {
      failure = std::current_exception();
    }
  }

  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Item> items;
  std::atomic<std::size_t> waiting{0};
  bool closed = false;
  Cancelled cancelled{false};
  std::exception_ptr failure;  // of the thread alone
};

TaskThread::TaskThread() : queue_(std::make_shared<Queue>()), thread_([queue = queue_] { queue->run(); }) {}

TaskThread::~TaskThread() {
  close();
}

void TaskThread::enqueue(Task task) {
  queue_->push({std::move(task), nullptr});
}

void TaskThread::notify(Callback callback) {
  queue_->push({nullptr, std::move(callback)});
}

void TaskThread::close() {
  queue_->close();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace foldstep
