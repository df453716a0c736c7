#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/backend_plugin.hpp"

/// The backends by name. A new backend needs its own folder and one row in table.cpp, nothing else.
namespace foldstep {

std::vector<std::string_view> backend_names();

/// Errors: Code::InvalidArgument for a name that no backend has; DeviceUnavailable with what is missing and
/// how to get it.
std::shared_ptr<Backend> create_backend(std::string_view name, const BackendOptions& options);

/// Tells the library of every backend that was created here to leave. Call it before the world is closed.
void leave_backends();

/// Facts for people to read: first ("library", its path or why it does not load), then the facts that the
/// library gives. Empty for a backend that is part of the addon. Errors: Code::InvalidArgument for a name
/// that no backend has.
Facts probe_backend(std::string_view name);

}  // namespace foldstep
