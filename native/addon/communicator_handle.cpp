#include "addon/communicator_handle.hpp"

#include <memory>
#include <utility>

#include "addon/arguments.hpp"
#include "addon/module.hpp"
#include "addon/values.hpp"

namespace foldstep::addon {
namespace {

Communicator::Blocks blocks(Arguments& in, int members) {
  Communicator::Blocks read;
  read.counts = in.sizes();
  read.offsets = in.sizes();
  const auto expected = static_cast<std::size_t>(members);
  if (read.counts.size() != expected || read.offsets.size() != expected) {
    throw Error(Code::InvalidLength, "an all-to-all needs one count and one offset for each of " +
                                         std::to_string(members) + " members");
  }
  return read;
}

}  // namespace

Napi::Function CommunicatorHandle::define(Napi::Env env) {
  return DefineClass(env, "Communicator",
                     {
                         method_of<&CommunicatorHandle::rank>("rank"),
                         method_of<&CommunicatorHandle::size>("size"),
                         method_of<&CommunicatorHandle::world_ranks>("worldRanks"),
                         method_of<&CommunicatorHandle::barrier>("barrier"),
                         method_of<&CommunicatorHandle::all_reduce>("allReduce"),
                         method_of<&CommunicatorHandle::reduce_scatter>("reduceScatter"),
                         method_of<&CommunicatorHandle::all_gather>("allGather"),
                         method_of<&CommunicatorHandle::broadcast>("broadcast"),
                         method_of<&CommunicatorHandle::all_to_all>("allToAll"),
                         method_of<&CommunicatorHandle::split>("split"),
                         release_method(),
                     });
}

Napi::Value CommunicatorHandle::rank(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), payload()->rank());
}

Napi::Value CommunicatorHandle::size(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), payload()->size());
}

Napi::Value CommunicatorHandle::world_ranks(const Napi::CallbackInfo& info) {
  return to_array(info.Env(), payload()->world_ranks());
}

Napi::Value CommunicatorHandle::barrier(const Napi::CallbackInfo& info) {
  payload()->barrier(Arguments(info).stream());
  return info.Env().Undefined();
}

Napi::Value CommunicatorHandle::all_reduce(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span data = in.span();
  const std::size_t count = in.size();
  const DType type = in.one_of<DType>();
  payload()->all_reduce(stream, data, count, type, in.one_of<ReduceOp>());
  return info.Env().Undefined();
}

Napi::Value CommunicatorHandle::reduce_scatter(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span source = in.span();
  const Span target = in.span();
  const std::size_t count = in.size();
  const DType type = in.one_of<DType>();
  payload()->reduce_scatter(stream, source, target, count, type, in.one_of<ReduceOp>());
  return info.Env().Undefined();
}

Napi::Value CommunicatorHandle::all_gather(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span source = in.span();
  const Span target = in.span();
  const std::size_t count = in.size();
  payload()->all_gather(stream, source, target, count, in.one_of<DType>());
  return info.Env().Undefined();
}

Napi::Value CommunicatorHandle::broadcast(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const Span data = in.span();
  const std::size_t count = in.size();
  const DType type = in.one_of<DType>();
  payload()->broadcast(stream, data, count, type, in.integer());
  return info.Env().Undefined();
}

Napi::Value CommunicatorHandle::all_to_all(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const int members = payload()->size();
  Stream& stream = in.stream();
  const Span source = in.span();
  const Communicator::Blocks send = blocks(in, members);
  const Span target = in.span();
  const Communicator::Blocks receive = blocks(in, members);
  payload()->all_to_all(stream, source, send, target, receive, in.one_of<DType>());
  return info.Env().Undefined();
}

Napi::Value CommunicatorHandle::split(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const int color = in.integer();
  auto made = std::make_shared<std::shared_ptr<Communicator>>();
  payload()->split(stream, color, in.integer(),
                   [made](std::shared_ptr<Communicator> group) { *made = std::move(group); });
  return Module::of(info.Env()).environment()->completions->when_passed(stream, [made](Napi::Env env) {
    return Module::of(env).make<CommunicatorHandle>(std::move(*made));
  });
}

}  // namespace foldstep::addon
