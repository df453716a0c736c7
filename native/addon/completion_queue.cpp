#include "addon/completion_queue.hpp"

#include <utility>

#include "addon/errors.hpp"
#include "runtime/error.hpp"

namespace foldstep::addon {

CompletionQueue::CompletionQueue(Napi::Env env) : env_(env) {
  const napi_status made =
      napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "foldstep"), 0, 1,
                                      nullptr, nullptr, this, &CompletionQueue::drain, &wake_);
  if (made != napi_ok) throw Error(Code::Internal, "Node could not make a thread-safe function");
  napi_unref_threadsafe_function(env, wake_);
}

Napi::Promise CompletionQueue::when_passed(Stream& stream, Result result) {
  const auto deferred = Napi::Promise::Deferred::New(env_);
  auto pending = std::make_shared<Pending>(Pending{deferred, std::move(result), nullptr});
  try {
    stream.notify([self = shared_from_this(), pending = std::move(pending)](std::exception_ptr error) {
      pending->error = std::move(error);
      self->push(pending);
    });
  } catch (...) {
    deferred.Reject(to_javascript(env_, std::current_exception()).Value());
    return deferred.Promise();
  }
  if (expected_++ == 0) napi_ref_threadsafe_function(env_, wake_);
  return deferred.Promise();
}

void CompletionQueue::push(std::shared_ptr<Pending> pending) {
  const std::lock_guard lock(mutex_);
  if (wake_ == nullptr) return;
  arrived_.push_back(std::move(pending));
  if (arrived_.size() == 1) napi_call_threadsafe_function(wake_, nullptr, napi_tsfn_nonblocking);
}

void CompletionQueue::drain(napi_env env, napi_value, void* context, void*) {
  // Null: the environment is going down, and `context` may be gone.
  if (env == nullptr) return;
  const auto self = static_cast<CompletionQueue*>(context)->shared_from_this();
  std::vector<std::shared_ptr<Pending>> arrived;
  {
    const std::lock_guard lock(self->mutex_);
    arrived.swap(self->arrived_);
  }
  const Napi::HandleScope scope(env);
  for (const auto& pending : arrived) self->settle(*pending);
  self->expected_ -= arrived.size();
  if (self->expected_ == 0 && self->wake_ != nullptr) napi_unref_threadsafe_function(env, self->wake_);
}

void CompletionQueue::settle(Pending& pending) {
  const Result result = std::exchange(pending.result, nullptr);
  try {
    try {
      if (pending.error) std::rethrow_exception(pending.error);
      pending.deferred.Resolve(result(env_));
    } catch (...) {
      pending.deferred.Reject(to_javascript(env_, std::current_exception()).Value());
    }
  } catch (const Napi::Error&) {
    // No JavaScript can run: a worker is being terminated, and nobody waits any more.
  }
}

void CompletionQueue::close() {
  napi_threadsafe_function wake = nullptr;
  {
    const std::lock_guard lock(mutex_);
    wake = std::exchange(wake_, nullptr);
    arrived_.clear();
  }
  if (wake != nullptr) napi_release_threadsafe_function(wake, napi_tsfn_abort);
}

}  // namespace foldstep::addon
