#pragma once

#include <napi.h>

namespace foldstep::addon {

/// joinsMpi(launcher).
/// openWorld(launcher, deadline, exit timeout; both in milliseconds), an object as World; blocks until every
/// rank has come. closeWorld(exit code), from an exit listener: see there.
void export_world_functions(Napi::Env env, Napi::Object exports);

}  // namespace foldstep::addon
