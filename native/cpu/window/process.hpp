#pragma once

#include <sys/types.h>

#include <cstdint>

namespace foldstep::cpu {

/// A process of this host, told from a later one that was given the same id.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks since boot

  static ProcessIdentity self();
  /// Of a process that is there.
  static ProcessIdentity of(pid_t pid);
  /// False once the process has ended, also while its parent has not yet taken note of that.
  bool alive() const;
  /// By a signal such as SIGSTOP, or by a debugger.
  bool stopped() const;
};

}  // namespace foldstep::cpu
