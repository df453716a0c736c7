#pragma once

#include <napi.h>

#include <exception>

namespace foldstep::addon {

/// A JavaScript Error with the properties code, rank and peer (the latter two where they are known).
Napi::Error to_javascript(Napi::Env env, const std::exception_ptr& error);

/// Runs `body`; what it throws becomes a JavaScript exception.
template <typename Body>
auto guarded(Napi::Env env, const Body& body) {
  try {
    return body();
  } catch (...) {
    throw to_javascript(env, std::current_exception());
  }
}

/// Adds a function to the addon's exports; what it throws becomes a JavaScript exception.
template <Napi::Value (*function)(const Napi::CallbackInfo&)>
void export_function(Napi::Env env, Napi::Object exports, const char* name) {
  const auto call = [](const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] { return function(info); });
  };
  exports.Set(name, Napi::Function::New(env, call, name));
}

}  // namespace foldstep::addon
