#include "cpu/window/process.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace foldstep::cpu {

namespace {

struct Stat {
  char state = '?';
  std::uint64_t start_time = 0;
};

std::optional<Stat> read_stat(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  Stat stat;
  fields >> stat.state;
  std::string skipped;
  constexpr int fields_between_state_and_start_time = 18;
  for (int i = 0; i < fields_between_state_and_start_time; ++i) fields >> skipped;
  if (!(fields >> stat.start_time)) return std::nullopt;
  return stat;
}

}  // namespace

ProcessIdentity ProcessIdentity::self() {
  return of(getpid());
}

ProcessIdentity ProcessIdentity::of(pid_t pid) {
  const auto stat = read_stat(pid);
  return {pid, stat ? stat->start_time : 0};
}

bool ProcessIdentity::alive() const {
  if (kill(pid, 0) != 0 && errno == ESRCH) return false;
  const auto stat = read_stat(pid);
  if (!stat || start_time == 0) return true;  // no /proc to ask: the process is there
  return stat->start_time == start_time && stat->state != 'Z' && stat->state != 'X';
}

bool ProcessIdentity::stopped() const {
  const auto stat = read_stat(pid);
  return stat && stat->start_time == start_time && (stat->state == 'T' || stat->state == 't');
}

}  // namespace foldstep::cpu
