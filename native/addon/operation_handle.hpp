#pragma once

#include <napi.h>

#include "addon/handle.hpp"
#include "runtime/prepared_operation.hpp"

namespace foldstep::addon {

/// A device operation that was checked once: `enqueue(stream, ...numbers)`, `release()`.
class OperationHandle final : public Handle<OperationHandle, PreparedOperation> {
 public:
  static constexpr const char* name = "prepared operation";
  static constexpr napi_type_tag tag{0x9f3c5b20d6e14a7e, 0x61b8f4075ec2d39a};

  using Base::Base;
  static Napi::Function define(Napi::Env env);

 private:
  Napi::Value enqueue(const Napi::CallbackInfo& info);
};

}  // namespace foldstep::addon
