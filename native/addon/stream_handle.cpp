#include "addon/stream_handle.hpp"

namespace foldstep::addon {

Napi::Function StreamHandle::define(Napi::Env env) {
  return DefineClass(env, "Stream",
                     {
                         method_of<&StreamHandle::synchronize>("synchronize"),
                         method_of<&StreamHandle::native_handle>("nativeHandle"),
                         release_method(),
                     });
}

StreamHandle::StreamHandle(const Napi::CallbackInfo& info)
    : Handle(info), environment_(Module::of(info.Env()).environment()) {}

StreamHandle::~StreamHandle() {
  if (!released()) environment_->streams.close_later({keep(), payload()});
}

Napi::Value StreamHandle::synchronize(const Napi::CallbackInfo&) {
  return environment_->completions->when_passed(*payload(), [](Napi::Env env) { return env.Undefined(); });
}

Napi::Value StreamHandle::native_handle(const Napi::CallbackInfo& info) {
  const auto address = reinterpret_cast<std::uintptr_t>(payload()->native_handle());
  return Napi::BigInt::New(info.Env(), static_cast<std::uint64_t>(address));
}

}  // namespace foldstep::addon
