#include "launch/ranks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>

namespace foldstep::launch {

namespace {

bool readable(int socket) {
  pollfd ready{socket, POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

}  // namespace

Ranks::Ranks(int expected) : expected_(expected), listener_(listen_in_kernel(name_)) {
  fcntl(listener_.number(), F_SETFL, O_NONBLOCK);
}

bool Ranks::any_running() const {
  return std::any_of(guards_.begin(), guards_.end(), [](const Guard& guard) { return guard.running; });
}

void Ranks::wait_for(std::vector<pollfd>& waiting) const {
  waiting.push_back({listener_.number(), POLLIN, 0});
  for (const Guard& guard : guards_) waiting.push_back({guard.socket.number(), POLLIN, 0});
}

void Ranks::accept_all() {
  for (;;) {
    Descriptor socket(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.open()) return;
    const pid_t process = peer_process(socket.number());
    if (process > 0) guards_.push_back({std::move(socket), process});
  }
}

void Ranks::hear(const std::function<bool(int, int)>& start,
                 const std::function<void(const Ending&)>& report) {
  accept_all();
  for (Guard& guard : guards_) {
    if (!readable(guard.socket.number())) continue;
    const auto message = receive_message(guard.socket.number());
    if (!message) {
      guard.socket.close();
      if (!guard.running) continue;
      kill(guard);
      ended_++;
      report({guard.rank, std::nullopt, guard.asked});
    } else if (message->kind == Kind::Hello) {
      guard.rank = message->value;
      guard.running = start(guard.socket.number(), guard.rank);
      if (!guard.running) guard.socket.close();
    } else if (message->kind == Kind::Asked) {
      guard.asked = true;
    } else if (message->kind == Kind::Ended) {
      guard.running = false;
      ended_++;
      report({guard.rank, message->value, guard.asked});
    }
  }
  guards_.remove_if([](const Guard& guard) { return !guard.socket.open(); });
}

void Ranks::signal_running(int number) const {
  for (const Guard& guard : guards_) {
    if (guard.running) ::kill(-guard.process, number);
  }
}

void Ranks::kill_running() {
  for (Guard& guard : guards_) {
    if (guard.running) kill(guard);
  }
}

void Ranks::kill(Guard& guard) {
  guard.running = false;
  ::kill(-guard.process, SIGKILL);
  dying_.push_back(guard.process);
}

bool Ranks::any_dying() {
  std::erase_if(dying_, [](pid_t group) { return ::kill(-group, 0) != 0; });
  return !dying_.empty();
}

void Ranks::release() {
  for (Guard& guard : guards_) {
    if (guard.rank < 0 || guard.running || guard.released) continue;
    guard.released = true;
    send_message(guard.socket.number(), {Kind::Leave});
  }
}

}  // namespace foldstep::launch
