#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace foldstep::launch {

/// The launcher, in a session of its own.
class LauncherProcess {
 public:
  /// What it prints goes to the descriptor `said`.
  void start(const std::vector<std::string>& command, int said);
  bool ended() const { return ended_; }
  /// Reaps what has ended, also ranks that the launcher left. Gives the launcher's wait status when it has
  /// ended.
  std::optional<int> reap();
  void kill();

 private:
  pid_t process_ = -1;
  bool ended_ = false;
};

}  // namespace foldstep::launch
