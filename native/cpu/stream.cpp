#include "cpu/stream.hpp"

#include <utility>

#include "runtime/error.hpp"

namespace foldstep::cpu {

CpuStream::CpuStream() : thread_([this] { run(); }) {}

CpuStream::~CpuStream() { close(); }

void CpuStream::enqueue(Task task) { push({std::move(task), nullptr}); }

void CpuStream::notify(Callback callback) { push({nullptr, std::move(callback)}); }

void CpuStream::push(Item item) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw Error(Code::Disposed, "the stream is closed; create another one");
    queue_.push_back(std::move(item));
  }
  wake_.notify_one();
}

void CpuStream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  cancelled_.store(true);
  wake_.notify_one();
  if (!thread_.joinable()) return;
  // The last owner may be a task of the stream's own.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void CpuStream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    process(item);
    item = {};  // what the task held is let go outside the lock
    lock.lock();
  }
}

void CpuStream::process(Item& item) {
  if (item.callback) {
    item.callback(std::exchange(failure_, nullptr));
    return;
  }
  if (failure_) return;
  try {
    if (cancelled_.load()) throw Error(Code::Aborted, "the stream was closed before this operation began");
    item.task(cancelled_);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

}  // namespace foldstep::cpu
