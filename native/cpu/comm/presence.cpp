#include "cpu/comm/presence.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cpu/comm/node_identity.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

/// Nobody takes what is sent to a rank's socket, so each question would stay in its queue: a process asks
/// another once and remembers whom it found. A full queue still tells that the rank is there.
constexpr int queue_length = 4096;

/// Text for more ranks than these helps nobody.
constexpr std::size_t most_described = 8;

class Socket {
 public:
  Socket() : descriptor_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

struct Address {
  sockaddr_un socket{};
  socklen_t length = 0;

  /// Of the abstract namespace, in which names begin with a null.
  explicit Address(const std::string& name) {
    socket.sun_family = AF_UNIX;
    const std::size_t bytes = std::min(name.size(), sizeof socket.sun_path - 1);
    std::memcpy(socket.sun_path + 1, name.data(), bytes);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  }
  const sockaddr* pointer() const { return reinterpret_cast<const sockaddr*>(&socket); }
};

std::string hexadecimal(const NodeHash& hash) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : hash) {
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[(half >> shift) & 15];
  }
  return text;
}

}  // namespace

Presence& Presence::get() {
  static auto& presence = *new Presence;
  return presence;
}

Presence::~Presence() {
  if (socket_ >= 0) close(socket_);
}

std::string Presence::name_of(int world_rank) const {
  return "foldstep/" + job_ + '/' + std::to_string(world_rank);
}

void Presence::appear(const Launch& launch) {
  const std::lock_guard lock(mutex_);
  if (!job_.empty() || launch.job.empty() || launch.rank < 0) return;
  job_ = std::to_string(getuid()) + '/' + hexadecimal(hash_node(launch.job));
  one_host_ = launch.on_one_host();
  Socket mine;
  const Address address(name_of(launch.rank));
  if (bind(mine.descriptor(), address.pointer(), address.length) == 0 &&
      listen(mine.descriptor(), queue_length) == 0) {
    socket_ = mine.release();
    seen_[launch.rank] = ProcessIdentity::self();
    return;
  }
  const bool taken = errno == EADDRINUSE;
  ProcessIdentity holder;
  if (taken) find(launch.rank, holder);
  job_.clear();
  // Where a sandbox forbids sockets, errors say less of other ranks.
  if (!taken) return;
  throw Error(Code::MpiUnavailable,
              (holder.pid == 0 ? "another process" : "process " + std::to_string(holder.pid)) + " is rank " +
                  std::to_string(launch.rank) + " of this job, and this process (" +
                  std::to_string(getpid()) +
                  ") has its environment, as one that a rank starts does; here work alone, with init({ "
                  "launcher: 'none' }), or let this process be the rank and call init() in no other",
              launch.rank);
}

void Presence::look_around(int size) {
  const std::lock_guard lock(mutex_);
  note_unseen(size);
}

void Presence::all_have_come(int size) {
  const std::lock_guard lock(mutex_);
  note_unseen(size);
  all_have_come_ = true;
}

void Presence::note_unseen(int size) {
  if (job_.empty()) return;
  for (int rank = 0; rank < size; ++rank) {
    ProcessIdentity found;
    if (seen_.count(rank) == 0 && find(rank, found)) seen_[rank] = found;
  }
}

Sighting Presence::look_for(int world_rank) {
  const std::lock_guard lock(mutex_);
  return look(world_rank);
}

/// Whether the rank's name is taken, and by whom where that can be told: from within a process namespace it
/// may not be.
bool Presence::find(int world_rank, ProcessIdentity& found) const {
  const Socket mine;
  const Address address(name_of(world_rank));
  if (connect(mine.descriptor(), address.pointer(), address.length) != 0) return errno == EAGAIN;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(mine.descriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid > 0) {
    found = ProcessIdentity::of(peer.pid);
  }
  return true;
}

Sighting Presence::look(int world_rank) {
  using State = Sighting::State;
  if (job_.empty()) return {State::Unknown, 0};
  const auto known = seen_.find(world_rank);
  if (known == seen_.end() || known->second.pid == 0) {
    ProcessIdentity found;
    if (!find(world_rank, found)) {
      if (known != seen_.end()) return {State::Gone, 0};
      return {all_have_come_ ? State::Elsewhere : State::NotCome, 0};
    }
    seen_[world_rank] = found;
  }
  const ProcessIdentity& process = seen_[world_rank];
  if (process.pid == 0) return {State::Here, 0};
  if (!process.alive()) return {State::Gone, process.pid};
  return {process.stopped() ? State::Stopped : State::Here, process.pid};
}

std::string Presence::describe(int world_rank, const Sighting& sighting) const {
  std::string rank = "rank " + std::to_string(world_rank);
  if (sighting.process != 0) rank += " (process " + std::to_string(sighting.process) + ')';
  switch (sighting.state) {
    case Sighting::State::Gone:
      return rank + " has ended";
    case Sighting::State::Stopped:
      return rank + " is stopped";
    case Sighting::State::Elsewhere:
      return rank + " is not on this host";
    case Sighting::State::NotCome:
      return rank + (one_host_ ? " has not called init()" : " has not called init() on this host");
    case Sighting::State::Here:
      return rank + " is running";
    case Sighting::State::Unknown:
      break;
  }
  return "nothing is known here of " + rank;
}

Absence Presence::explain(const std::vector<int>& world_ranks) {
  const std::lock_guard lock(mutex_);
  return explain_locked(world_ranks);
}

Absence Presence::explain_unwell() {
  const std::lock_guard lock(mutex_);
  std::vector<int> unwell;
  for (const auto& [rank, process] : seen_) {
    if (process.pid != 0 && (!process.alive() || process.stopped())) unwell.push_back(rank);
  }
  return explain_locked(unwell);
}

Absence Presence::explain_locked(const std::vector<int>& world_ranks) {
  std::vector<std::pair<Sighting, int>> found;
  for (const int rank : world_ranks) found.emplace_back(look(rank), rank);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first.state < b.first.state; });
  Absence absence;
  for (std::size_t i = 0; i < std::min(found.size(), most_described); ++i) {
    absence.text += (i == 0 ? "" : "; ") + describe(found[i].second, found[i].first);
  }
  if (found.size() > most_described) {
    absence.text += "; and " + std::to_string(found.size() - most_described) + " more";
  }
  if (!found.empty()) absence.rank = found.front().second;
  return absence;
}

}  // namespace foldstep::cpu
