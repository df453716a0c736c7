#include "addon/stream_registry.hpp"

#include <utility>

#include "runtime/error.hpp"

namespace foldstep::addon {

void StreamRegistry::add(const std::shared_ptr<Stream>& stream) {
  if (ended_) throw Error(Code::Disposed, "this JavaScript environment is ending; it can have no new stream");
  std::erase_if(streams_, [](const auto& known) { return known.expired(); });
  streams_.push_back(stream);
}

void StreamRegistry::close_later(OwnedStream dropped) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  dropped_.push_back(std::move(dropped));
  if (!closer_.joinable()) closer_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void StreamRegistry::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  // The closer first: two threads may not close one stream.
  if (closer_.joinable()) {
    changed_.notify_one();
    closer_.join();
  }
  for (const auto& known : streams_) {
    if (const auto stream = known.lock()) stream->close();
  }
  streams_.clear();
}

void StreamRegistry::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || !dropped_.empty(); });
    if (dropped_.empty()) return;
    {
      const OwnedStream dropped = std::move(dropped_.front());
      dropped_.pop_front();
      lock.unlock();
      dropped.stream->close();
    }
    lock.lock();
  }
}

}  // namespace foldstep::addon
