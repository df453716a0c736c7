#pragma once

#include <exception>
#include <functional>

namespace foldstep {

/// A first-in-first-out queue of device operations. Enqueuing returns at once.
/// After an operation has failed, those behind it are skipped up to the next `notify`, which is given the
/// error: nothing is computed from a result that is not there.
class Stream {
 public:
  using Callback = std::function<void(std::exception_ptr)>;

  virtual ~Stream() = default;

  /// What other libraries know it by, such as a cudaStream_t; null where there is nothing of the kind. Work
  /// that they enqueue there is ordered behind operations of ours whose notification has come.
  virtual void* native_handle() const { return nullptr; }

  /// Calls back, on a thread of the stream's own, when everything enqueued so far has run or been skipped;
  /// with the first error since the last notification, or null.
  virtual void notify(Callback callback) = 0;

  /// Cancels what waits for other ranks, drops what has not begun (its notifications get Code::Aborted) and
  /// ends the stream. Blocks only for the operation that is running. Idempotent.
  virtual void close() = 0;
};

}  // namespace foldstep
