#pragma once

#include <napi.h>

#include "addon/handle.hpp"
#include "runtime/kernels.hpp"

namespace foldstep::addon {

/// The segments of a norm, kept for every step: `release()`.
class NormPlanHandle final : public Handle<NormPlanHandle, const NormPlan> {
 public:
  static constexpr const char* name = "norm plan";
  static constexpr napi_type_tag tag{0x17d6f94b8ace4705, 0xe0539ab24fd1c876};

  using Base::Base;
  static Napi::Function define(Napi::Env env);
  /// createNormPlan(Float64Array of offset, length, group, parameter and counted for each segment; groups)
  /// and normScalars(groups), the places in NormScalars.
  static void export_functions(Napi::Env env, Napi::Object exports);
};

}  // namespace foldstep::addon
