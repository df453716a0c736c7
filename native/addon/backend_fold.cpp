#include "addon/arguments.hpp"
#include "addon/backend_handle.hpp"
#include "addon/communicator_handle.hpp"
#include "addon/window_handle.hpp"
#include "runtime/fold.hpp"

namespace foldstep::addon {
namespace {

Team team(Arguments& in) {
  Team read;
  read.communicator = in.handle<CommunicatorHandle>().payload();
  if (!in.skip_absent()) read.window = in.handle<WindowHandle>().payload();
  read.channel = in.integer();
  return read;
}

Geometry geometry(Arguments& in) {
  Geometry read;
  read.begin = in.size();
  read.end = in.size();
  read.replicas = in.integer();
  read.shard_length = in.size();
  return read;
}

}  // namespace

Napi::Value BackendHandle::accumulate(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Team members = team(in);
  Fold::Accumulate request;
  request.path = in.one_of(Path::Library);
  request.gradient_type = in.dtype();
  request.accumulation = in.one_of(Accumulation::BF16);
  request.mirror = in.flag();
  request.sharded = in.flag();
  request.scale = static_cast<float>(in.number());
  request.geometry = geometry(in);
  request.gradient = in.span();
  request.accumulator = in.span();
  payload()->fold().accumulate(stream, members, request);
  return info.Env().Undefined();
}

Napi::Value BackendHandle::reduce(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Team members = team(in);
  Fold::Reduce request;
  request.path = in.one_of(Path::Library);
  request.type = in.dtype();
  request.sharded = in.flag();
  request.scale = static_cast<float>(in.number());
  request.geometry = geometry(in);
  request.data = in.span();
  payload()->fold().reduce(stream, members, request);
  return info.Env().Undefined();
}

Napi::Value BackendHandle::gather(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Team members = team(in);
  Fold::Gather request;
  request.path = in.one_of(Path::Library);
  request.type = in.dtype();
  request.geometry = geometry(in);
  request.data = in.span();
  payload()->fold().gather(stream, members, request);
  return info.Env().Undefined();
}

}  // namespace foldstep::addon
