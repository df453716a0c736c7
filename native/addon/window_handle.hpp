#pragma once

#include <napi.h>

#include "addon/handle.hpp"
#include "runtime/peer_window.hpp"

namespace foldstep::addon {

/// A peer window: `slab()`, a new Memory on this rank's slab; `worldRanks()`; `release()`.
class WindowHandle final : public Handle<WindowHandle, PeerWindow> {
 public:
  static constexpr const char* name = "peer window";
  static constexpr napi_type_tag tag{0xc41f7ae0385b4b92, 0x8d6e92f05a17c3b4};

  using Base::Base;
  static Napi::Function define(Napi::Env env);

 private:
  Napi::Value slab(const Napi::CallbackInfo& info);
  Napi::Value world_ranks(const Napi::CallbackInfo& info);
};

}  // namespace foldstep::addon
