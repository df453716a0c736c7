#pragma once

#include <napi.h>

#include "addon/handle.hpp"
#include "runtime/kernels.hpp"

namespace foldstep::addon {

/// The segments of an optimizer step, kept for every step: `release()`.
class UpdatePlanHandle final : public Handle<UpdatePlanHandle, const UpdatePlan> {
 public:
  static constexpr const char* name = "update plan";
  static constexpr napi_type_tag tag{0x9f3c5b20d6e14a7e, 0x61b8f4075ec2d39a};

  using Base::Base;
  static Napi::Function define(Napi::Env env);
  /// createUpdatePlan(Float64Array of master, accumulator, weight, length and group for each segment;
  /// Float64Array of offset and length for each run to clear; groups).
  static void export_functions(Napi::Env env, Napi::Object exports);
};

}  // namespace foldstep::addon
