#include "addon/window_handle.hpp"

#include "addon/memory_handle.hpp"
#include "addon/module.hpp"
#include "addon/values.hpp"

namespace foldstep::addon {

Napi::Function WindowHandle::define(Napi::Env env) {
  return DefineClass(env, "Window",
                     {
                         method_of<&WindowHandle::slab>("slab"),
                         method_of<&WindowHandle::world_ranks>("worldRanks"),
                         release_method(),
                     });
}

Napi::Value WindowHandle::slab(const Napi::CallbackInfo& info) {
  return Module::of(info.Env()).make<MemoryHandle>(payload()->slab(), keep());
}

Napi::Value WindowHandle::world_ranks(const Napi::CallbackInfo& info) {
  return to_array(info.Env(), payload()->world_ranks());
}

}  // namespace foldstep::addon
