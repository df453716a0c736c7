#include "launch/signals.hpp"

#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace foldstep::launch {

Descriptor receive_signals(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  Descriptor signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.open()) throw std::system_error(errno, std::generic_category(), "signalfd");
  return signals;
}

bool is_end_signal(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

}  // namespace foldstep::launch
