#pragma once

#include <napi.h>

#include "addon/handle.hpp"
#include "runtime/communicator.hpp"

namespace foldstep::addon {

/// A group of ranks. The collectives enqueue and return nothing; `split` gives a promise of a Communicator.
/// A span is two arguments, a Memory and an offset in bytes.
class CommunicatorHandle final : public Handle<CommunicatorHandle, Communicator> {
 public:
  static constexpr const char* name = "communicator";
  static constexpr napi_type_tag tag{0x5e0a83d1c79f4f16, 0xb2d74c60e81935fa};

  using Base::Base;
  static Napi::Function define(Napi::Env env);

 private:
  Napi::Value rank(const Napi::CallbackInfo& info);
  Napi::Value size(const Napi::CallbackInfo& info);
  Napi::Value world_ranks(const Napi::CallbackInfo& info);
  /// (stream)
  Napi::Value barrier(const Napi::CallbackInfo& info);
  /// (stream, data, count, type, op)
  Napi::Value all_reduce(const Napi::CallbackInfo& info);
  /// (stream, source, target, count, type, op)
  Napi::Value reduce_scatter(const Napi::CallbackInfo& info);
  /// (stream, source, target, count, type)
  Napi::Value all_gather(const Napi::CallbackInfo& info);
  /// (stream, data, count, type, root)
  Napi::Value broadcast(const Napi::CallbackInfo& info);
  /// (stream, source, send counts, send offsets, target, receive counts, receive offsets, type)
  Napi::Value all_to_all(const Napi::CallbackInfo& info);
  /// (stream, color, key)
  Napi::Value split(const Napi::CallbackInfo& info);
};

}  // namespace foldstep::addon
