#include <memory>

#include "addon/arguments.hpp"
#include "addon/backend_handle.hpp"
#include "addon/norm_plan_handle.hpp"
#include "addon/update_plan_handle.hpp"

namespace foldstep::addon {

Napi::Value BackendHandle::cast(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span source = in.span();
  const DType from = in.dtype();
  const Span target = in.span();
  const DType to = in.dtype();
  payload()->kernels().cast(stream, source, from, target, to, in.size());
  return info.Env().Undefined();
}

Napi::Value BackendHandle::copy(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span source = in.span();
  const Span target = in.span();
  payload()->kernels().copy(stream, source, target, in.size());
  return info.Env().Undefined();
}

Napi::Value BackendHandle::zero(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span target = in.span();
  payload()->kernels().zero(stream, target, in.size());
  return info.Env().Undefined();
}

Napi::Value BackendHandle::norm_partials(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const auto& plan = in.handle<NormPlanHandle>().payload();
  const NormKind kind = in.one_of(NormKind::Infinity);
  const double p = in.number();
  const Span arena = in.span();
  const Span scale = in.span_or_none();
  payload()->kernels().norm_partials(stream, plan, kind, p, arena, scale, in.span());
  return info.Env().Undefined();
}

Napi::Value BackendHandle::power_scale(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span gathered = in.span();
  const std::uint32_t groups = in.count();
  const int ranks = in.integer();
  payload()->kernels().power_scale(stream, gathered, groups, ranks, in.span());
  return info.Env().Undefined();
}

Napi::Value BackendHandle::finish_norm(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  FinishNorm request;
  request.kind = in.one_of(NormKind::Infinity);
  request.p = in.number();
  request.groups = in.count();
  request.ranks = in.integer();
  request.max_norm = in.number();
  request.group_max_norms = in.numbers();
  const Span gathered = in.span();
  const Span scale = in.span_or_none();
  payload()->kernels().finish_norm(stream, request, gathered, scale, in.span());
  return info.Env().Undefined();
}

Napi::Value BackendHandle::update(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const auto& plan = in.handle<UpdatePlanHandle>().payload();
  UpdateSettings settings;
  settings.rule = in.one_of(Rule::AdamW);
  settings.learning_rate = in.number();
  settings.weight_decay = in.number();
  settings.momentum = in.number();
  settings.nesterov = in.flag();
  settings.beta1 = in.number();
  settings.beta2 = in.number();
  settings.epsilon = in.number();
  settings.step = in.size();
  UpdateArenas arenas;
  arenas.master = in.span();
  arenas.accumulator = in.span();
  arenas.weight = in.span();
  arenas.moment1 = in.span_or_none();
  arenas.moment2 = in.span_or_none();
  payload()->kernels().update(stream, plan, settings, arenas, in.span());
  return info.Env().Undefined();
}

}  // namespace foldstep::addon
