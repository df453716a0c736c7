#include "runtime/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace foldstep {
namespace {

/// Of the library or program that this code is linked into.
std::filesystem::path folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&folder), &info);
  return std::filesystem::path(info.dli_fname).parent_path();
}

}  // namespace

Plugin::Plugin(const char* file, const char* variable) {
  const char* const named = std::getenv(variable);
  const bool chosen = named != nullptr && *named != '\0';
  // Absolute: what has no slash would be looked for in the folders of the system's libraries.
  path_ = std::filesystem::absolute(chosen ? named : folder() / file).string();
}

bool Plugin::built() const {
  return std::filesystem::exists(path_);
}

void* Plugin::symbol(const char* name) const {
  if (!built()) throw std::runtime_error(path_ + " is not built");
  void* const library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* const found = dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(path_ + " has no " + name + ": it is of another version");
  return found;
}

}  // namespace foldstep
