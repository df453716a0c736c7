#include "launch/reports.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace foldstep::launch {

namespace {

std::string how(int status) {
  if (WIFSIGNALED(status)) return " signal " + std::to_string(WTERMSIG(status));
  return " exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Reports::Reports(int target) : target_(target) {
  fcntl(target, F_SETFD, FD_CLOEXEC);
}

void Reports::look() {
  pollfd reader{target_, POLLIN, 0};
  // It never writes: what can be read is the end.
  if (wanted_ && poll(&reader, 1, 0) > 0) wanted_ = false;
}

void Reports::rank(const Ranks::Ending& ending) {
  const std::string rank = "rank " + std::to_string(ending.rank) + (ending.asked ? " asked" : " own");
  tell(rank + (ending.status ? how(*ending.status) : " lost"));
}

void Reports::launcher(int status) {
  tell("launcher" + how(status));
}

void Reports::tell(std::string line) {
  line.push_back('\n');
  if (wanted_ && write(target_, line.data(), line.size()) < 0) wanted_ = false;
}

}  // namespace foldstep::launch
