#include <memory>
#include <utility>

#include "addon/arguments.hpp"
#include "addon/backend_handle.hpp"
#include "addon/communicator_handle.hpp"
#include "addon/module.hpp"
#include "addon/operation_handle.hpp"
#include "addon/window_handle.hpp"
#include "fold/prepare.hpp"
#include "runtime/prepared_kernels.hpp"

namespace foldstep::addon {
namespace {

Team team_of(const Given& spec) {
  Team team;
  team.communicator = spec["communicator"].handle<CommunicatorHandle>().payload();
  if (!spec["window"].absent()) team.window = spec["window"].handle<WindowHandle>().payload();
  team.channel = spec["channel"].integer();
  return team;
}

Geometry geometry_of(const Given& spec) {
  return {spec["begin"].size(), spec["end"].size(), spec["replicas"].integer(), spec["shardLength"].size()};
}

/// Calls `add` with each run of `fields` numbers.
template <typename Add>
void for_each_row(const std::vector<std::size_t>& values, std::size_t fields, const Add& add) {
  if (values.size() % fields != 0) {
    throw Error(Code::InvalidLength, "each row has " + std::to_string(fields) + " numbers");
  }
  for (std::size_t i = 0; i < values.size(); i += fields) add(values.data() + i);
}

NormPlan norm_plan_of(const Given& spec) {
  NormPlan plan;
  plan.groups = spec["groups"].count();
  for_each_row(spec["segments"].sizes(), 5, [&](const std::size_t* row) {
    plan.segments.push_back({row[0], row[1], to_index(row[2]), to_index(row[3]), row[4] != 0});
  });
  return plan;
}

UpdatePlan update_plan_of(const Given& spec) {
  UpdatePlan plan;
  plan.groups = spec["groups"].count();
  for_each_row(spec["segments"].sizes(), 5, [&](const std::size_t* row) {
    plan.segments.push_back({row[0], row[1], row[2], row[3], to_index(row[4])});
  });
  for_each_row(spec["clears"].sizes(), 2, [&](const std::size_t* row) {
    plan.clears.push_back({row[0], row[1]});
  });
  return plan;
}

}  // namespace

Napi::Value BackendHandle::hand_over(const Napi::CallbackInfo& info,
                                     std::shared_ptr<PreparedOperation> operation) {
  return Module::of(info.Env()).make<OperationHandle>(std::move(operation), payload());
}

Napi::Value BackendHandle::prepare_accumulate(const Napi::CallbackInfo& info) {
  const Given spec = Arguments(info).next();
  AccumulateRequest request;
  request.path = spec["path"].one_of<Path>();
  request.gradient_type = spec["dtype"].one_of<DType>();
  request.accumulation = spec["accumulation"].one_of<Accumulation>();
  request.mirror = spec["mirror"].flag();
  request.sharded = spec["sharded"].flag();
  request.scale = static_cast<float>(spec["scale"].number());
  request.geometry = geometry_of(spec["geometry"]);
  request.gradient = spec["gradient"].span();
  request.accumulator = spec["accumulator"].span();
  return hand_over(info, fold::prepare(*payload(), team_of(spec["team"]), request));
}

Napi::Value BackendHandle::prepare_reduce(const Napi::CallbackInfo& info) {
  const Given spec = Arguments(info).next();
  ReduceRequest request;
  request.path = spec["path"].one_of<Path>();
  request.type = spec["dtype"].one_of<DType>();
  request.sharded = spec["sharded"].flag();
  request.scale = static_cast<float>(spec["scale"].number());
  request.geometry = geometry_of(spec["geometry"]);
  request.data = spec["data"].span();
  return hand_over(info, fold::prepare(*payload(), team_of(spec["team"]), request));
}

Napi::Value BackendHandle::prepare_gather(const Napi::CallbackInfo& info) {
  const Given spec = Arguments(info).next();
  GatherRequest request;
  request.path = spec["path"].one_of<Path>();
  request.type = spec["dtype"].one_of<DType>();
  request.geometry = geometry_of(spec["geometry"]);
  request.data = spec["data"].span();
  return hand_over(info, fold::prepare(*payload(), team_of(spec["team"]), request));
}

Napi::Value BackendHandle::prepare_norm_partials(const Napi::CallbackInfo& info) {
  const Given spec = Arguments(info).next();
  NormPartialsRequest request;
  request.plan = norm_plan_of(spec);
  request.kind = spec["kind"].one_of<NormKind>();
  request.p = spec["p"].number();
  request.arena = spec["arena"].span();
  request.power_scale = spec["powerScale"].span_or_none();
  request.partials = spec["partials"].span();
  return hand_over(info, prepare(*payload(), std::move(request)));
}

Napi::Value BackendHandle::prepare_power_scale(const Napi::CallbackInfo& info) {
  const Given spec = Arguments(info).next();
  PowerScaleRequest request;
  request.groups = spec["groups"].count();
  request.ranks = spec["ranks"].integer();
  request.gathered = spec["gathered"].span();
  request.scale = spec["scale"].span();
  return hand_over(info, prepare(*payload(), std::move(request)));
}

Napi::Value BackendHandle::prepare_finish_norm(const Napi::CallbackInfo& info) {
  const Given spec = Arguments(info).next();
  FinishNormRequest request;
  request.norm.kind = spec["kind"].one_of<NormKind>();
  request.norm.p = spec["p"].number();
  request.norm.groups = spec["groups"].count();
  request.norm.ranks = spec["ranks"].integer();
  request.norm.max_norm = spec["maxNorm"].number();
  request.norm.group_max_norms = spec["groupMaxNorms"].numbers();
  request.gathered = spec["gathered"].span();
  request.power_scale = spec["powerScale"].span_or_none();
  request.scalars = spec["scalars"].span();
  return hand_over(info, prepare(*payload(), std::move(request)));
}

Napi::Value BackendHandle::prepare_update(const Napi::CallbackInfo& info) {
  const Given spec = Arguments(info).next();
  UpdateRequest request;
  request.plan = update_plan_of(spec);
  request.settings.rule = spec["rule"].one_of<Rule>();
  request.settings.weight_decay = spec["weightDecay"].number();
  request.settings.momentum = spec["momentum"].number();
  request.settings.nesterov = spec["nesterov"].flag();
  request.settings.beta1 = spec["beta1"].number();
  request.settings.beta2 = spec["beta2"].number();
  request.settings.epsilon = spec["epsilon"].number();
  request.arenas.master = spec["master"].span();
  request.arenas.accumulator = spec["accumulator"].span();
  request.arenas.weight = spec["weight"].span();
  request.arenas.moment1 = spec["moment1"].span_or_none();
  request.arenas.moment2 = spec["moment2"].span_or_none();
  request.scalars = spec["scalars"].span();
  return hand_over(info, prepare(*payload(), std::move(request)));
}

}  // namespace foldstep::addon
