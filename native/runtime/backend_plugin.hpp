#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"

namespace foldstep {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// What a backend that is a library of its own exports, under `backend_plugin_symbol`.
struct BackendPlugin {
  /// `host`: the CPU backend, for what goes over MPI.
  std::shared_ptr<Backend> (*create)(const BackendOptions& options, std::shared_ptr<Backend> host);
  /// What it needs of this machine and whether that is there, in lines for people. Throws nothing.
  Facts (*probe)();
  /// This process is about to end well: tells the peers that wait for it, and those that will.
  void (*leave)();
};

/// Of type const BackendPlugin& ().
constexpr const char* backend_plugin_symbol = "foldstep_backend_plugin";

}  // namespace foldstep
