#include "addon/norm_plan_handle.hpp"

#include <memory>

#include "addon/arguments.hpp"
#include "addon/module.hpp"

namespace foldstep::addon {
namespace {

Napi::Value create_norm_plan(const Napi::CallbackInfo& info) {
  constexpr std::size_t fields = 5;
  Arguments in(info);
  const auto values = in.sizes();
  auto plan = std::make_shared<NormPlan>();
  plan->groups = in.count();
  if (values.size() % fields != 0) throw Error(Code::InvalidLength, "a norm segment has five numbers");
  for (std::size_t i = 0; i < values.size(); i += fields) {
    NormSegment segment;
    segment.offset = values[i];
    segment.length = values[i + 1];
    segment.group = to_index(values[i + 2]);
    segment.parameter = to_index(values[i + 3]);
    segment.counted = values[i + 4] != 0;
    plan->segments.push_back(segment);
  }
  return Module::of(info.Env()).make<NormPlanHandle>(std::move(plan));
}

Napi::Value norm_scalars(const Napi::CallbackInfo& info) {
  const NormScalars scalars{Arguments(info).count()};
  const auto number = [&](std::size_t place) {
    return Napi::Number::New(info.Env(), static_cast<double>(place));
  };
  auto places = Napi::Object::New(info.Env());
  places.Set("norm", number(NormScalars::norm));
  places.Set("firstGroupNorm", number(scalars.group_norm(0)));
  places.Set("firstCoefficient", number(scalars.coefficient(0)));
  places.Set("skip", number(scalars.skip()));
  places.Set("rank", number(scalars.rank()));
  places.Set("parameter", number(scalars.parameter()));
  places.Set("length", number(scalars.length()));
  places.Set("partialsLength", number(partials_length(scalars.groups)));
  return places;
}

}  // namespace

Napi::Function NormPlanHandle::define(Napi::Env env) {
  return DefineClass(env, "NormPlan", {release_method()});
}

void NormPlanHandle::export_functions(Napi::Env env, Napi::Object exports) {
  export_function<create_norm_plan>(env, exports, "createNormPlan");
  export_function<norm_scalars>(env, exports, "normScalars");
}

}  // namespace foldstep::addon
