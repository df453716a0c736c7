#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/backend_plugin.hpp"

/// The backends by name: outside its own folder a new one has a row in table.cpp, and no more.
namespace foldstep {

std::vector<std::string_view> backend_names();

/// Errors: Code::InvalidArgument for a name that is none; DeviceUnavailable with what is missing and how to
/// get it.
std::shared_ptr<Backend> create_backend(std::string_view name, const BackendOptions& options);

/// Before the world is closed: lets every backend that was created here leave.
void leave_backends();

/// For people: ("library", its path or why it does not load), then what it says itself. Nothing for a backend
/// that is no library of its own. Errors: Code::InvalidArgument for a name that is none.
Facts probe_backend(std::string_view name);

}  // namespace foldstep
