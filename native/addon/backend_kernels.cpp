#include "addon/arguments.hpp"
#include "addon/backend_handle.hpp"

namespace foldstep::addon {

Napi::Value BackendHandle::cast(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span source = in.span();
  const DType from = in.one_of<DType>();
  const Span target = in.span();
  const DType to = in.one_of<DType>();
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

}  // namespace foldstep::addon
