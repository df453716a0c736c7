#include "addon/memory_handle.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "addon/arguments.hpp"
#include "addon/external_array.hpp"

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
                         method_of<&MemoryHandle::host_accessible>("hostAccessible"),
                         method_of<&MemoryHandle::address>("address"),
                         method_of<&MemoryHandle::read>("read"),
                         method_of<&MemoryHandle::write>("write"),
                         release_method(),
                     });
}

void MemoryHandle::hold(std::shared_ptr<Memory> memory, std::shared_ptr<const void> keep) {
  // V8 counts the bytes of ArrayBuffers too: rather twice than not at all, where there is none.
  adjust_external_memory(Env(), memory->bytes(), 1);
  Base::hold(std::move(memory), std::move(keep));
}

void MemoryHandle::Finalize(Napi::Env env) {
  if (!released()) adjust_external_memory(env, payload()->bytes(), -1);
}

void MemoryHandle::let_go(Napi::Env env) {
  for (auto& [part, array] : parts_) {
    if (Napi::ArrayBuffer known = array.Value(); !known.IsEmpty()) known.Detach();
  }
  parts_.clear();
  adjust_external_memory(env, payload()->bytes(), -1);
}

Napi::Value MemoryHandle::bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(payload()->bytes()));
}

Napi::Value MemoryHandle::host_accessible(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), payload()->host_accessible());
}

Napi::Value MemoryHandle::address(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(),
                           static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(payload()->data())));
}

Napi::Value MemoryHandle::read(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const std::size_t offset = in.size();
  const Bytes target = in.bytes();
  require_within(offset, target.count);
  if (target.count > 0) payload()->read(offset, target.data, target.count);
  return info.Env().Undefined();
}

Napi::Value MemoryHandle::write(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const std::size_t offset = in.size();
  const Bytes source = in.bytes();
  require_within(offset, source.count);
  if (source.count > 0) payload()->write(offset, source.data, source.count);
  return info.Env().Undefined();
}

void MemoryHandle::require_within(std::size_t offset, std::size_t count) const {
  const std::size_t there = payload()->bytes();
  if (offset <= there && count <= there - offset) return;
  throw Error(Code::InvalidLength, std::to_string(count) + " bytes at byte " + std::to_string(offset) +
                                       " do not lie in a buffer of " + std::to_string(there));
}

Napi::Value MemoryHandle::array_buffer(const Napi::CallbackInfo& info) {
  const auto& memory = payload();
  if (!memory->host_accessible()) {
    throw Error(
        Code::InvalidArgument,
        "JavaScript cannot see a device's own memory; read() and write() copy, and allocateHost() gives "
        "memory that both see");
  }
  Arguments in(info);
  const std::size_t offset = in.size();
  const std::size_t count = in.size();
  require_within(offset, count);
  if (const auto known = parts_.find({offset, count}); known != parts_.end()) {
    if (const Napi::ArrayBuffer array = known->second.Value(); !array.IsEmpty()) return array;
  }
  const auto made = external_array(info.Env(), memory->data() + offset, count,
                                   std::make_shared<Lease>(Lease{keep(), memory}));
  std::erase_if(parts_, [](const auto& part) { return part.second.Value().IsEmpty(); });
  parts_[{offset, count}] = Napi::Weak(made);
  return made;
}

}  // namespace foldstep::addon
