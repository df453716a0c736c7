#include "runtime/backend_plugin.hpp"

#include <mutex>
#include <set>
#include <stdexcept>

#include "runtime/error.hpp"
#include "runtime/plugin.hpp"

namespace foldstep {
namespace {

Plugin library_of(DeviceKind kind) {
  if (kind == DeviceKind::Simulated) return {"foldstep_simulated.so", "FOLDSTEP_SIMULATED_PLUGIN"};
  return {"foldstep_cuda.so", "FOLDSTEP_CUDA_PLUGIN"};
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

std::shared_ptr<Backend> create_backend(DeviceKind kind, const BackendOptions& options) {
  if (kind == DeviceKind::Cpu) return create_cpu_backend(options);
  const Plugin library = library_of(kind);
  try {
    const BackendPlugin& plugin = load(library);
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

Facts probe_backend(DeviceKind kind) {
  const Plugin library = library_of(kind);
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
