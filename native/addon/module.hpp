#pragma once

#include <napi.h>

#include <memory>
#include <tuple>
#include <utility>

#include "addon/completion_queue.hpp"
#include "addon/stream_registry.hpp"

namespace foldstep::addon {

class BackendHandle;
class CommunicatorHandle;
class MemoryHandle;
class OperationHandle;
class StreamHandle;
class WindowHandle;

/// What handles share and may need for as long as any of them lives.
struct Environment {
  explicit Environment(Napi::Env env) : completions(std::make_shared<CompletionQueue>(env)) {}

  StreamRegistry streams;
  std::shared_ptr<CompletionQueue> completions;
};

/// The addon in one JavaScript environment: the main thread's, or a worker's. Nothing is shared between them
/// here.
class Module final : public Napi::Addon<Module> {
 public:
  Module(Napi::Env env, Napi::Object exports);

  static Module& of(Napi::Env env) { return *env.GetInstanceData<Module>(); }

  const std::shared_ptr<Environment>& environment() const { return environment_; }

  /// A new object of JavaScript class `T` that holds what is given, as T::hold takes it.
  template <typename T, typename... Held>
  Napi::Object make(Held&&... held) {
    Napi::Object object = std::get<Constructor<T>>(constructors_).function.New({});
    T::Unwrap(object)->hold(std::forward<Held>(held)...);
    return object;
  }

 private:
  template <typename T>
  struct Constructor {
    Napi::FunctionReference function;
  };

  template <typename T>
  void define(Napi::Env env) {
    std::get<Constructor<T>>(constructors_).function = Napi::Persistent(T::define(env));
  }

  void end();

  std::shared_ptr<Environment> environment_;
  std::tuple<Constructor<BackendHandle>, Constructor<CommunicatorHandle>, Constructor<MemoryHandle>,
             Constructor<OperationHandle>, Constructor<StreamHandle>, Constructor<WindowHandle>>
      constructors_;
};

}  // namespace foldstep::addon
