#include "backends/table.hpp"

#include <array>
#include <mutex>
#include <set>
#include <stdexcept>

#include "cpu/cpu_backend.hpp"
#include "runtime/error.hpp"
#include "runtime/plugin.hpp"

namespace foldstep {
namespace {

struct Row {
  std::string_view name;
  /// Null for a backend that is a library of its own.
  std::shared_ptr<Backend> (*create)(const BackendOptions&);
  /// File name of that library. The file lies beside the addon.
  const char* file;
  /// The environment variable that may name another file.
  const char* variable;
};

constexpr std::array<Row, 3> table{{
    {"cpu", create_cpu_backend, nullptr, nullptr},
    {"cuda", nullptr, "foldstep_cuda.so", "FOLDSTEP_CUDA_PLUGIN"},
    {"simulated", nullptr, "foldstep_simulated.so", "FOLDSTEP_SIMULATED_PLUGIN"},
}};

const Row& row_of(std::string_view name) {
  std::string names;
  for (const Row& row : table) {
    if (row.name == name) return row;
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  throw Error(Code::InvalidArgument,
              "device must be one of " + names + "; it is '" + std::string(name) + "'");
}

const BackendPlugin& load(const Plugin& library) {
  return library.function<const BackendPlugin&()>(backend_plugin_symbol)();
}

/// The plugins that have made a backend in this process.
class Used {
 public:
  void add(const BackendPlugin& plugin) {
    const std::lock_guard lock(mutex_);
    plugins_.insert(&plugin);
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    for (const BackendPlugin* const plugin : plugins_) plugin->leave();
  }

 private:
  std::mutex mutex_;
  std::set<const BackendPlugin*> plugins_;
};

Used& used() {
  static auto& instance = *new Used;  // never destroyed: other threads may use it until the very end
  return instance;
}

}  // namespace

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const Row& row : table) names.push_back(row.name);
  return names;
}

std::shared_ptr<Backend> create_backend(std::string_view name, const BackendOptions& options) {
  const Row& row = row_of(name);
  if (row.create != nullptr) return row.create(options);
  try {
    const BackendPlugin& plugin = load({row.file, row.variable});
    auto backend = plugin.create(options, create_cpu_backend(options));
    used().add(plugin);
    return backend;
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Error(Code::DeviceUnavailable, std::string("the library of this device cannot be used: ") +
                                             error.what() +
                                             "; `foldstep doctor` says what this host lacks, and `npm run "
                                             "build:native` builds it where nvcc is");
  }
}

void leave_backends() {
  used().leave();
}

Facts probe_backend(std::string_view name) {
  const Row& row = row_of(name);
  if (row.create != nullptr) return {};
  const Plugin library(row.file, row.variable);
  if (!library.built()) return {{"library", "not built"}};
  try {
    Facts facts{{"library", library.path()}};
    const Facts own = load(library).probe();
    facts.insert(facts.end(), own.begin(), own.end());
    return facts;
  } catch (const std::runtime_error& error) {
    return {{"library", std::string("does not load: ") + error.what()}};
  }
}

}  // namespace foldstep
