#include "cpu/stream.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "runtime/error.hpp"

namespace foldstep::cpu {

struct CpuStream::Queue {
  struct Item {
    Task task;
    Callback callback;
  };

  void push(Item item) {
    {
      const std::lock_guard lock(mutex);
      if (closed) throw Error(Code::Disposed, "the stream is closed; create another one");
      items.push_back(std::move(item));
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
      wake.wait(lock, [this] { return closed || !items.empty(); });
      if (items.empty()) return;
      Item item = std::move(items.front());
      items.pop_front();
      lock.unlock();
      process(item);
      item = {};  // what the task held is let go outside the lock
      lock.lock();
    }
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
  bool closed = false;
  Cancelled cancelled{false};
  std::exception_ptr failure;  // of the thread alone
};

CpuStream::CpuStream() : queue_(std::make_shared<Queue>()), thread_([queue = queue_] { queue->run(); }) {}

CpuStream::~CpuStream() {
  close();
}

void CpuStream::enqueue(Task task) {
  queue_->push({std::move(task), nullptr});
}

void CpuStream::notify(Callback callback) {
  queue_->push({nullptr, std::move(callback)});
}

void CpuStream::close() {
  queue_->close();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace foldstep::cpu
