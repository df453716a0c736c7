#include "addon/module.hpp"

#include "addon/backend_handle.hpp"
#include "addon/communicator_handle.hpp"
#include "addon/memory_handle.hpp"
#include "addon/operation_handle.hpp"
#include "addon/stream_handle.hpp"
#include "addon/window_handle.hpp"
#include "addon/world_functions.hpp"

namespace foldstep::addon {

// The end of an environment (the process's natural end, or a worker's end or termination), in order:
//   1. end(), a cleanup hook. Hooks run last in, first out, so this one, added after the thread-safe function
//   was made,
//      runs before Node takes that down. It closes the streams, which cancels what waits for other ranks and
//      joins their threads, and then the completion queue. From here on no thread of ours meets JavaScript.
//   2. Node-API runs the finalizers of handles and array buffers, in no order that matters: what a handle
//   holds it holds
//      by shared_ptr, with the backend it needs.
//   3. Node-API deletes the Module, which is the environment's instance data.
// process.exit() runs none of this on the main thread: lib/device closes the world from an exit listener.
Module::Module(Napi::Env env, Napi::Object exports) : environment_(std::make_shared<Environment>(env)) {
  env.AddCleanupHook([](Module* module) { module->end(); }, this);
  define<BackendHandle>(env);
  define<CommunicatorHandle>(env);
  define<MemoryHandle>(env);
  define<OperationHandle>(env);
  define<StreamHandle>(env);
  define<WindowHandle>(env);
  export_world_functions(env, exports);
  BackendHandle::export_functions(env, exports);
}

void Module::end() {
  environment_->streams.end();
  environment_->completions->close();
}

NODE_API_NAMED_ADDON(foldstep, Module)

}  // namespace foldstep::addon
