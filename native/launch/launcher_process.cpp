#include "launch/launcher_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "launch/arguments_file.hpp"
#include "launch/session_folder.hpp"

namespace foldstep::launch {

void LauncherProcess::start(const std::vector<std::string>& command, int said) {
  // What the launcher leaves behind becomes this process's own, which then knows when it is gone.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t supervisor = getpid();
  process_ = fork();
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process_ > 0) return;
  // Away from the terminal: its signals reach the ranks through the supervisor alone.
  setsid();
  // Open MPI tidies up after a SIGTERM, but not after a second one. The supervisor has one thread, so that
  // its death is told once.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != supervisor) _exit(1);
  // Standard input is for rank 0, which gets it from the supervisor: a launcher would read it unasked.
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  dup2(said, 1);
  dup2(said, 2);
  execute(command);
}

std::optional<int> LauncherProcess::reap() {
  std::optional<int> found;
  int status = 0;
  // All that have ended: several ends may be told of as one.
  for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (process == process_) found = status;
  }
  if (!found) return found;
  ended_ = true;
  if (WIFSIGNALED(*found)) remove_session_folder(process_);
  return found;
}

void LauncherProcess::kill() {
  if (!ended_) ::kill(process_, SIGKILL);
}

}  // namespace foldstep::launch
