#include "addon/backend_handle.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "addon/arguments.hpp"
#include "addon/communicator_handle.hpp"
#include "addon/memory_handle.hpp"
#include "addon/module.hpp"
#include "addon/stream_handle.hpp"
#include "addon/window_handle.hpp"
#include "backends/table.hpp"

namespace foldstep::addon {
namespace {

Napi::Object to_object(Napi::Env env, const Facts& facts) {
  auto object = Napi::Object::New(env);
  for (const auto& [key, value] : facts) object.Set(key, value);
  return object;
}

Napi::Value create_backend(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const std::string device = in.next().text();
  BackendOptions options;
  options.deadline = in.deadline();
  options.threads = in.integer();
  options.local_rank = in.integer();
  options.local_ranks = in.integer();
  options.collectives = in.one_of<Collectives>();
  return Module::of(info.Env()).make<BackendHandle>(foldstep::create_backend(device, options));
}

Napi::Value probe_backend(const Napi::CallbackInfo& info) {
  return to_object(info.Env(), foldstep::probe_backend(Arguments(info).next().text()));
}

Napi::Value list_backends(const Napi::CallbackInfo& info) {
  auto names = Napi::Array::New(info.Env());
  for (const std::string_view name : backend_names()) names.Set(names.Length(), std::string(name));
  return names;
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

Napi::Function BackendHandle::define(Napi::Env env) {
  return DefineClass(env, "Backend",
                     {
                         method_of<&BackendHandle::describe>("describe"),
                         method_of<&BackendHandle::create_stream>("createStream"),
                         method_of<&BackendHandle::allocate>("allocate"),
                         method_of<&BackendHandle::allocate_host>("allocateHost"),
                         method_of<&BackendHandle::wrap>("wrap"),
                         method_of<&BackendHandle::join>("join"),
                         method_of<&BackendHandle::create_window>("createWindow"),
                         method_of<&BackendHandle::current_bytes>("currentBytes"),
                         method_of<&BackendHandle::peak_bytes>("peakBytes"),
                         method_of<&BackendHandle::reset_peak>("resetPeak"),
                         method_of<&BackendHandle::cast>("cast"),
                         method_of<&BackendHandle::copy>("copy"),
                         method_of<&BackendHandle::zero>("zero"),
                         method_of<&BackendHandle::prepare_accumulate>("prepareAccumulate"),
                         method_of<&BackendHandle::prepare_reduce>("prepareReduce"),
                         method_of<&BackendHandle::prepare_gather>("prepareGather"),
                         method_of<&BackendHandle::prepare_norm_partials>("prepareNormPartials"),
                         method_of<&BackendHandle::prepare_power_scale>("preparePowerScale"),
                         method_of<&BackendHandle::prepare_finish_norm>("prepareFinishNorm"),
                         method_of<&BackendHandle::prepare_update>("prepareUpdate"),
                         release_method(),
                     });
}

void BackendHandle::export_functions(Napi::Env env, Napi::Object exports) {
  export_function<create_backend>(env, exports, "createBackend");
  export_function<probe_backend>(env, exports, "probeBackend");
  export_function<list_backends>(env, exports, "backendNames");
  export_function<norm_scalars>(env, exports, "normScalars");
}

Napi::Value BackendHandle::describe(const Napi::CallbackInfo& info) {
  return to_object(info.Env(), payload()->describe());
}

Napi::Value BackendHandle::create_stream(const Napi::CallbackInfo& info) {
  auto& module = Module::of(info.Env());
  auto stream = payload()->create_stream();
  module.environment()->streams.add(stream);
  return module.make<StreamHandle>(std::move(stream), payload());
}

Napi::Value BackendHandle::allocate(const Napi::CallbackInfo& info) {
  auto memory = payload()->allocate(Arguments(info).size());
  return Module::of(info.Env()).make<MemoryHandle>(std::move(memory), payload());
}

Napi::Value BackendHandle::allocate_host(const Napi::CallbackInfo& info) {
  auto memory = payload()->allocate_host(Arguments(info).size());
  return Module::of(info.Env()).make<MemoryHandle>(std::move(memory), payload());
}

Napi::Value BackendHandle::wrap(const Napi::CallbackInfo& info) {
  Arguments in(info);
  std::byte* const address = in.next().address();
  const std::size_t bytes = in.size();
  if (address == nullptr) throw Error(Code::InvalidArgument, "the address is 0, where no memory is");
  if (bytes > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(address)) {
    throw Error(Code::InvalidArgument,
                std::to_string(bytes) + " bytes from that address reach beyond the end of all memory");
  }
  auto memory = payload()->wrap(address, bytes);
  return Module::of(info.Env()).make<MemoryHandle>(std::move(memory), payload());
}

Napi::Value BackendHandle::join(const Napi::CallbackInfo& info) {
  auto communicator = payload()->join(Arguments(info).handle<CommunicatorHandle>().payload());
  return Module::of(info.Env()).make<CommunicatorHandle>(std::move(communicator), payload());
}

Napi::Value BackendHandle::create_window(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  const auto& communicator = in.handle<CommunicatorHandle>().payload();
  auto made = std::make_shared<std::shared_ptr<PeerWindow>>();
  payload()->create_window(stream, communicator, in.size(),
                           [made](std::shared_ptr<PeerWindow> window) { *made = std::move(window); });
  return Module::of(info.Env())
      .environment()
      ->completions->when_passed(stream, [made, backend = payload()](Napi::Env env) {
        return Module::of(env).make<WindowHandle>(std::move(*made), backend);
      });
}

Napi::Value BackendHandle::current_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(payload()->ledger().current_bytes()));
}

Napi::Value BackendHandle::peak_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(payload()->ledger().peak_bytes()));
}

Napi::Value BackendHandle::reset_peak(const Napi::CallbackInfo& info) {
  payload()->reset_peaks();
  return info.Env().Undefined();
}

}  // namespace foldstep::addon
