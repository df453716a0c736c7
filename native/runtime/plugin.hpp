#pragma once

#include <string>

namespace foldstep {

/// A part of foldstep that is a library of its own, in the folder of the one that asks.
class Plugin {
 public:
  /// `variable` names an environment variable that may name another file, from the current folder. Nothing is
  /// loaded yet.
  Plugin(const char* file, const char* variable);

  const std::string& path() const { return path_; }
  bool built() const;
  /// The function of that name. The library is loaded once and stays. Throws std::runtime_error with a
  /// reason.
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::string path_;
};

}  // namespace foldstep
