#pragma once

#include <napi.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/stream.hpp"

namespace foldstep::addon {

/// Brings what streams report on their own threads to the JavaScript thread, where it settles promises. One
/// for an environment; it keeps the event loop alive only while a promise is pending.
class CompletionQueue : public std::enable_shared_from_this<CompletionQueue> {
 public:
  /// Makes a promise's value, on the JavaScript thread.
  using Result = std::function<Napi::Value(Napi::Env)>;

  explicit CompletionQueue(Napi::Env env);
  ~CompletionQueue() = default;
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  /// On the JavaScript thread: a promise that is resolved when `stream` has passed everything enqueued so
  /// far, or rejected with its first error since the last such promise.
  Napi::Promise when_passed(Stream& stream, Result result);

  /// On the JavaScript thread, when no stream can report any more or none is to be heard.
  void close();

 private:
  struct Pending {
    Napi::Promise::Deferred deferred;
    Result result;
    std::exception_ptr error;
  };

  static void drain(napi_env env, napi_value, void* context, void*);
  void push(std::shared_ptr<Pending> pending);
  void settle(Pending& pending);

  Napi::Env env_;
  std::size_t expected_ = 0;  // of the JavaScript thread alone

  std::mutex mutex_;
  std::vector<std::shared_ptr<Pending>> arrived_;
  napi_threadsafe_function wake_ = nullptr;  // null: closed
};

}  // namespace foldstep::addon
