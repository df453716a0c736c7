#include "addon/world_functions.hpp"

#include <cstdlib>

#include "addon/arguments.hpp"
#include "addon/communicator_handle.hpp"
#include "addon/module.hpp"
#include "backends/table.hpp"
#include "cpu/world.hpp"

namespace foldstep::addon {
namespace {

Napi::Value joins(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), joins_mpi(Arguments(info).one_of<Launcher>()));
}

Napi::Value open(const Napi::CallbackInfo& info) {
  Arguments in(info);
  WorldOptions options;
  options.launcher = in.one_of<Launcher>();
  options.deadline = in.deadline();
  options.exit_timeout = in.deadline();
  const World world = open_world(options);
  auto result = Napi::Object::New(info.Env());
  result.Set("communicator", Module::of(info.Env()).make<CommunicatorHandle>(world.communicator));
  result.Set("library", world.library);
  result.Set("node", world.node);
  result.Set("localRank", world.local_rank);
  result.Set("localSize", world.local_size);
  return result;
}

// Node emits 'exit' before it prints the error that ends the process. A failing rank takes the job down when
// all of it has been printed, as the process leaves.
Napi::Value close(const Napi::CallbackInfo& info) {
  const int exit_code = Arguments(info).integer();
  Module::of(info.Env()).environment()->streams.end();
  if (exit_code == 0) {
    leave_backends();
    close_world(0);
  } else {
    // The process may end with a status that is 0 to the host although the exit code was not.
    const auto end = [](int status, void* announced) {
      close_world(status != 0 ? status : static_cast<int>(reinterpret_cast<std::intptr_t>(announced)));
    };
    on_exit(end, reinterpret_cast<void*>(std::intptr_t{exit_code}));
  }
  return info.Env().Undefined();
}

}  // namespace

void export_world_functions(Napi::Env env, Napi::Object exports) {
  export_function<joins>(env, exports, "joinsMpi");
  export_function<open>(env, exports, "openWorld");
  export_function<close>(env, exports, "closeWorld");
}

}  // namespace foldstep::addon
