#pragma once

#include <napi.h>

#include "addon/handle.hpp"
#include "runtime/backend.hpp"

namespace foldstep::addon {

/// A device. Its operations enqueue and return nothing; arguments are positional, because some are called
/// hundreds of times a step. A span is two arguments, a Memory and an offset in bytes; a team three, a
/// Communicator, a Window or null, and a channel; a geometry four: begin, end, replicas, shard length.
class BackendHandle final : public Handle<BackendHandle, Backend> {
 public:
  static constexpr const char* name = "device";
  static constexpr napi_type_tag tag{0xf86a21d0937e4c5b, 0x84c05b9e6d3fa172};

  using Base::Base;
  static Napi::Function define(Napi::Env env);
  /// createBackend(kind, deadline in milliseconds, threads, local rank, ranks on this host, collectives);
  /// probeBackend(kind): facts
  static void export_functions(Napi::Env env, Napi::Object exports);

 private:
  // backend_handle.cpp
  Napi::Value describe(const Napi::CallbackInfo& info);
  Napi::Value create_stream(const Napi::CallbackInfo& info);
  /// (bytes)
  Napi::Value allocate(const Napi::CallbackInfo& info);
  /// (bytes)
  Napi::Value allocate_host(const Napi::CallbackInfo& info);
  /// (address, bytes)
  Napi::Value wrap(const Napi::CallbackInfo& info);
  /// (communicator): a Communicator
  Napi::Value join(const Napi::CallbackInfo& info);
  /// (stream, communicator, bytes): a promise of a Window
  Napi::Value create_window(const Napi::CallbackInfo& info);
  /// Of the ledger of temporaries.
  Napi::Value current_bytes(const Napi::CallbackInfo& info);
  Napi::Value peak_bytes(const Napi::CallbackInfo& info);
  Napi::Value reset_peak(const Napi::CallbackInfo& info);

  // backend_kernels.cpp
  /// (stream, source, from, target, to, count)
  Napi::Value cast(const Napi::CallbackInfo& info);
  /// (stream, source, target, bytes)
  Napi::Value copy(const Napi::CallbackInfo& info);
  /// (stream, target, bytes)
  Napi::Value zero(const Napi::CallbackInfo& info);
  /// (stream, plan, kind, p, arena, power scale or none, partials)
  Napi::Value norm_partials(const Napi::CallbackInfo& info);
  /// (stream, gathered, groups, ranks, scale)
  Napi::Value power_scale(const Napi::CallbackInfo& info);
  /// (stream, kind, p, groups, ranks, max norm, Float64Array of the groups' own, gathered, power scale or
  /// none, scalars)
  Napi::Value finish_norm(const Napi::CallbackInfo& info);
  /// (stream, plan, rule, learning rate, weight decay, momentum, nesterov, beta 1, beta 2, epsilon, step,
  /// master, accumulator, weight, moment 1 or none, moment 2 or none, scalars)
  Napi::Value update(const Napi::CallbackInfo& info);

  // backend_fold.cpp
  /// (stream, team, path, gradient type, accumulation, mirror, sharded, scale, geometry, gradient,
  /// accumulator)
  Napi::Value accumulate(const Napi::CallbackInfo& info);
  /// (stream, team, path, type, sharded, scale, geometry, data)
  Napi::Value reduce(const Napi::CallbackInfo& info);
  /// (stream, team, path, type, geometry, data)
  Napi::Value gather(const Napi::CallbackInfo& info);
};

}  // namespace foldstep::addon
