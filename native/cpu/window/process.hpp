#pragma once

#include <sys/types.h>

#include <cstdint>

namespace foldstep::cpu {

/// A process of this host, told from a later one that was given the same id.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks since boot

  static ProcessIdentity self();
  /// False once the process has ended, also while its parent has not yet taken note of that.
  bool alive() const;
};

}  // namespace foldstep::cpu
