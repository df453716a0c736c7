#include "addon/update_plan_handle.hpp"

#include <memory>

#include "addon/arguments.hpp"
#include "addon/module.hpp"

namespace foldstep::addon {
namespace {

Napi::Value create_update_plan(const Napi::CallbackInfo& info) {
  constexpr std::size_t segment_fields = 5;
  constexpr std::size_t clear_fields = 2;
  Arguments in(info);
  const auto segments = in.sizes();
  const auto clears = in.sizes();
  auto plan = std::make_shared<UpdatePlan>();
  plan->groups = in.count();
  if (segments.size() % segment_fields != 0)
    throw Error(Code::InvalidLength, "an update segment has five numbers");
  if (clears.size() % clear_fields != 0) throw Error(Code::InvalidLength, "a run to clear has two numbers");
  for (std::size_t i = 0; i < segments.size(); i += segment_fields) {
    UpdateSegment segment;
    segment.master = segments[i];
    segment.accumulator = segments[i + 1];
    segment.weight = segments[i + 2];
    segment.length = segments[i + 3];
    segment.group = to_index(segments[i + 4]);
    plan->segments.push_back(segment);
  }
  for (std::size_t i = 0; i < clears.size(); i += clear_fields)
    plan->clears.push_back({clears[i], clears[i + 1]});
  return Module::of(info.Env()).make<UpdatePlanHandle>(std::move(plan));
}

}  // namespace

Napi::Function UpdatePlanHandle::define(Napi::Env env) {
  return DefineClass(env, "UpdatePlan", {release_method()});
}

void UpdatePlanHandle::export_functions(Napi::Env env, Napi::Object exports) {
  export_function<create_update_plan>(env, exports, "createUpdatePlan");
}

}  // namespace foldstep::addon
