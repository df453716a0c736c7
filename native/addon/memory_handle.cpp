#include "addon/memory_handle.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace foldstep::addon {
namespace {

/// What an ArrayBuffer keeps alive; the block goes before what it needs.
struct Lease {
  std::shared_ptr<const void> keep;
  std::shared_ptr<Memory> memory;
};

void adjust_external_memory(Napi::Env env, std::size_t bytes, int sign) {
  Napi::MemoryManagement::AdjustExternalMemory(env, sign * static_cast<std::int64_t>(bytes));
}

}  // namespace

Napi::Function MemoryHandle::define(Napi::Env env) {
  return DefineClass(env, "Memory",
                     {
                         method_of<&MemoryHandle::bytes>("bytes"),
                         method_of<&MemoryHandle::array_buffer>("arrayBuffer"),
                         release_method(),
                     });
}

void MemoryHandle::hold(std::shared_ptr<Memory> memory, std::shared_ptr<const void> keep) {
  // V8 counts the bytes of an ArrayBuffer too: rather twice than not at all, where there is none.
  adjust_external_memory(Env(), memory->bytes(), 1);
  Base::hold(std::move(memory), std::move(keep));
}

void MemoryHandle::Finalize(Napi::Env env) {
  if (!released()) adjust_external_memory(env, payload()->bytes(), -1);
}

void MemoryHandle::let_go(Napi::Env env) {
  if (!array_.IsEmpty()) {
    if (Napi::ArrayBuffer known = array_.Value(); !known.IsEmpty()) known.Detach();
  }
  adjust_external_memory(env, payload()->bytes(), -1);
}

Napi::Value MemoryHandle::bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(payload()->bytes()));
}

Napi::Value MemoryHandle::array_buffer(const Napi::CallbackInfo& info) {
  const auto& memory = payload();
  if (!array_.IsEmpty()) {
    if (const Napi::ArrayBuffer known = array_.Value(); !known.IsEmpty()) return known;
  }
  if (memory->bytes() == 0) return Napi::ArrayBuffer::New(info.Env(), 0);
  auto lease = std::make_unique<Lease>(Lease{keep(), memory});
  const auto made = Napi::ArrayBuffer::New(
      info.Env(), memory->data(), memory->bytes(), [](Napi::Env, void*, Lease* held) { delete held; },
      lease.get());
  lease.release();
  array_ = Napi::Weak(made);
  return made;
}

}  // namespace foldstep::addon
