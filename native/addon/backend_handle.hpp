#pragma once

#include <napi.h>

#include "addon/handle.hpp"
#include "runtime/backend.hpp"
#include "runtime/prepared_operation.hpp"

namespace foldstep::addon {

/// A device. What a call enqueues is done later; it returns nothing. A span is two arguments, a Memory and an
/// offset in bytes. Enumerations are names.
class BackendHandle final : public Handle<BackendHandle, Backend> {
 public:
  static constexpr const char* name = "device";
  static constexpr napi_type_tag tag{0xf86a21d0937e4c5b, 0x84c05b9e6d3fa172};

  using Base::Base;
  static Napi::Function define(Napi::Env env);
  /// createBackend(name, deadline in milliseconds, threads, local rank, ranks on this host, collectives);
  /// probeBackend(name): facts; backendNames(); normScalars(groups): the places in NormScalars
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

  // backend_prepare.cpp: each takes an object with named fields and gives a PreparedOperation
  Napi::Value prepare_accumulate(const Napi::CallbackInfo& info);
  Napi::Value prepare_reduce(const Napi::CallbackInfo& info);
  Napi::Value prepare_gather(const Napi::CallbackInfo& info);
  Napi::Value prepare_norm_partials(const Napi::CallbackInfo& info);
  Napi::Value prepare_power_scale(const Napi::CallbackInfo& info);
  Napi::Value prepare_finish_norm(const Napi::CallbackInfo& info);
  Napi::Value prepare_update(const Napi::CallbackInfo& info);
  Napi::Value hand_over(const Napi::CallbackInfo& info, std::shared_ptr<PreparedOperation> operation);
};

}  // namespace foldstep::addon
