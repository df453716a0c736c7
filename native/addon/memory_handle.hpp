#pragma once

#include <napi.h>

#include <cstddef>
#include <map>
#include <utility>

#include "addon/handle.hpp"
#include "runtime/memory.hpp"

namespace foldstep::addon {

/// A block of a device's memory.
class MemoryHandle final : public Handle<MemoryHandle, Memory> {
 public:
  static constexpr const char* name = "buffer";
  static constexpr napi_type_tag tag{0x6d1f0b7c52e94a03, 0x9c84e1d75f2ab610};

  using Base::Base;
  static Napi::Function define(Napi::Env env);

  void hold(std::shared_ptr<Memory> memory, std::shared_ptr<const void> keep);
  void Finalize(Napi::Env env) override;

  /// Detaches the ArrayBuffers; operations in flight, and what JavaScript's own threads do with them, keep
  /// the block alive.
  void let_go(Napi::Env env);

 private:
  /// (offset, bytes): a part of the block without a copy, the same object for as long as it is in use. It
  /// keeps the block alive.
  Napi::Value array_buffer(const Napi::CallbackInfo& info);
  Napi::Value bytes(const Napi::CallbackInfo& info);
  Napi::Value host_accessible(const Napi::CallbackInfo& info);
  /// On the device: a BigInt.
  Napi::Value address(const Napi::CallbackInfo& info);
  /// (offset, typed array): copies into the array; blocks.
  Napi::Value read(const Napi::CallbackInfo& info);
  /// (offset, typed array): copies from the array; blocks.
  Napi::Value write(const Napi::CallbackInfo& info);
  void require_within(std::size_t offset, std::size_t count) const;

  using Part = std::pair<std::size_t, std::size_t>;           // offset and bytes
  std::map<Part, Napi::Reference<Napi::ArrayBuffer>> parts_;  // weak
};

}  // namespace foldstep::addon
