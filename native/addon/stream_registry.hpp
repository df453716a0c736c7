#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/stream.hpp"

namespace foldstep::addon {

/// A stream and what must outlive it.
struct OwnedStream {
  std::shared_ptr<const void> keep;
  std::shared_ptr<Stream> stream;
};

/// Knows every stream of an environment, so that none outlives it. Closing a stream blocks for the operation
/// that is running; a stream that was dropped rather than disposed of is therefore closed on a thread of the
/// registry's own. All but that thread's loop is called on the JavaScript thread.
class StreamRegistry {
 public:
  StreamRegistry() = default;
  ~StreamRegistry() { end(); }
  StreamRegistry(const StreamRegistry&) = delete;
  StreamRegistry& operator=(const StreamRegistry&) = delete;

  /// Throws Disposed after end().
  void add(const std::shared_ptr<Stream>& stream);
  /// Does not block, unless for a stream that end() has closed already.
  void close_later(OwnedStream dropped);
  /// Cancels what waits for other ranks, joins and ends every stream, for good. Idempotent.
  void end();

 private:
  void run();

  std::vector<std::weak_ptr<Stream>> streams_;

  std::thread closer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<OwnedStream> dropped_;
  bool ended_ = false;
};

}  // namespace foldstep::addon
