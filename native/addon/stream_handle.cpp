#include "addon/stream_handle.hpp"

namespace foldstep::addon {

Napi::Function StreamHandle::define(Napi::Env env) {
  return DefineClass(env, "Stream",
                     {
                         method_of<&StreamHandle::synchronize>("synchronize"),
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

}  // namespace foldstep::addon
