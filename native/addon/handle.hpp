#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <utility>

#include "addon/errors.hpp"
#include "runtime/error.hpp"

namespace foldstep::addon {

/// Base of the classes JavaScript sees: an object that holds one `Payload`, or none after release().
/// `Derived` has `name`, for error texts, and `tag`, which tells its objects from all others.
template <typename Derived, typename Payload>
class Handle : public Napi::ObjectWrap<Derived> {
 public:
  using Base = Handle;

  /// An empty one, as after release(): what JavaScript gets if it calls the constructor.
  explicit Handle(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Derived>(info) {
    info.This().template As<Napi::Object>().TypeTag(&Derived::tag);
  }

  /// The handle in `value`. Throws InvalidArgument for anything else.
  static Derived& from(const Napi::Value& value) {
    if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&Derived::tag)) {
      throw Error(Code::InvalidArgument, std::string("a ") + Derived::name + " of foldstep is expected here");
    }
    return *Napi::ObjectWrap<Derived>::Unwrap(value.As<Napi::Object>());
  }

  /// `keep` is what the payload needs alive.
  void hold(std::shared_ptr<Payload> payload, std::shared_ptr<const void> keep = nullptr) {
    keep_ = std::move(keep);
    payload_ = std::move(payload);
  }

  /// What a class does first when it is released.
  void let_go(Napi::Env) {}

  bool released() const { return payload_ == nullptr; }

  /// Throws Disposed after release().
  const std::shared_ptr<Payload>& payload() const {
    if (released())
      throw Error(Code::Disposed, std::string("this ") + Derived::name + " has been disposed of");
    return payload_;
  }

 protected:
  /// The method that empties the handle. Idempotent.
  static auto release_method() {
    return Napi::ObjectWrap<Derived>::InstanceMethod(
        "release", static_cast<Napi::Value (Derived::*)(const Napi::CallbackInfo&)>(&Handle::release));
  }

  const std::shared_ptr<const void>& keep() const { return keep_; }

  /// A method whose exceptions reach JavaScript with their codes.
  template <Napi::Value (Derived::*method)(const Napi::CallbackInfo&)>
  static auto method_of(const char* name) {
    return Napi::ObjectWrap<Derived>::InstanceMethod(
        name,
        static_cast<Napi::Value (Derived::*)(const Napi::CallbackInfo&)>(&Handle::template call<method>));
  }

 private:
  template <Napi::Value (Derived::*method)(const Napi::CallbackInfo&)>
  Napi::Value call(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] { return (static_cast<Derived*>(this)->*method)(info); });
  }

  Napi::Value release(const Napi::CallbackInfo& info) {
    guarded(info.Env(), [&] {
      if (released()) return;
      static_cast<Derived*>(this)->let_go(info.Env());
      payload_ = nullptr;
      keep_ = nullptr;
    });
    return info.Env().Undefined();
  }

  std::shared_ptr<const void> keep_;
  std::shared_ptr<Payload> payload_;
};

}  // namespace foldstep::addon
