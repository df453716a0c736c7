#pragma once

#include <napi.h>

#include <memory>

#include "addon/handle.hpp"
#include "addon/module.hpp"
#include "runtime/stream.hpp"

namespace foldstep::addon {

/// A stream: `synchronize()`, `nativeHandle()`, `release()`.
class StreamHandle final : public Handle<StreamHandle, Stream> {
 public:
  static constexpr const char* name = "stream";
  static constexpr napi_type_tag tag{0x2b50c9e6f1734d88, 0xa7e3160d94bc5f21};

  explicit StreamHandle(const Napi::CallbackInfo& info);
  ~StreamHandle() override;
  static Napi::Function define(Napi::Env env);

  /// Closes the stream; blocks only for the operation that is running.
  void let_go(Napi::Env) { payload()->close(); }

 private:
  /// A promise; see CompletionQueue::when_passed.
  Napi::Value synchronize(const Napi::CallbackInfo& info);
  /// A BigInt; 0n where there is none.
  Napi::Value native_handle(const Napi::CallbackInfo& info);

  std::shared_ptr<Environment> environment_;
};

}  // namespace foldstep::addon
