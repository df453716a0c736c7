#include "launch/line_sink.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

namespace foldstep::launch {

namespace {

constexpr std::size_t most_held = 1 << 16;
/// An unfinished line, such as a question, is shown when nothing has followed for so long.
constexpr std::chrono::milliseconds silence{500};
/// Others wait so long for the rest of a line that has been begun. Its writer may lack a processor.
constexpr std::chrono::milliseconds stall{2000};

}  // namespace

LineSink::LineSink(int target) : target_(target) {
  struct stat about {};
  fstat(target, &about);
  is_socket_ = S_ISSOCK(about.st_mode);
  is_file_ = S_ISREG(about.st_mode);
}

Descriptor LineSink::add_writer() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  writers_.push_back({++writers_so_far_, Descriptor(ends[0]), {}, Clock::now()});
  return Descriptor(ends[1]);
}

bool LineSink::takes_from(const Writer& writer) const {
  return pending_.size() < most_held && (owner_ == nullptr || owner_ == &writer);
}

void LineSink::wait_for(std::vector<pollfd>& waiting, Deadline& wake) const {
  for (const Writer& writer : writers_) {
    if (!takes_from(writer)) continue;
    waiting.push_back({writer.pipe.number(), POLLIN, 0});
    if (writer.line.empty() && owner_ != &writer) continue;
    const Clock::time_point due = writer.last_read + (owner_ == &writer ? stall : silence);
    wake = wake ? std::min(*wake, due) : due;
  }
  if (!pending_.empty()) waiting.push_back({target_, POLLOUT, 0});
}

void LineSink::move() {
  for (Writer& writer : writers_) {
    if (takes_from(writer)) read_from(writer);
  }
  std::erase_if(writers_, [](const Writer& writer) { return !writer.pipe.open(); });
  write_pending();
}

void LineSink::read_from(Writer& writer) {
  char part[most_held];
  const ssize_t got = read(writer.pipe.number(), part, sizeof part);
  if (got > 0) {
    writer.last_read = Clock::now();
    if (error_ == 0) writer.line.append(part, static_cast<std::size_t>(got));
    take_lines(writer);
    return;
  }
  if (got < 0 && errno == EINTR) return;
  const bool ended = got == 0 || errno != EAGAIN || finishing_;
  if (!ended && Clock::now() < writer.last_read + (owner_ == &writer ? stall : silence)) return;
  take(writer, writer.line.size());
  if (owner_ == &writer) owner_ = nullptr;
  if (ended) writer.pipe.close();
}

void LineSink::take_lines(Writer& writer) {
  const std::size_t end = writer.line.rfind('\n') + 1;
  take(writer, end);
  if (end > 0) owner_ = nullptr;
  if (owner_ == nullptr && writer.line.size() < most_held) return;
  owner_ = &writer;
  take(writer, writer.line.size());
}

void LineSink::take(Writer& writer, std::size_t bytes) {
  if (bytes == 0) return;
  if (unfinished_ != 0 && unfinished_ != writer.number) pending_.push_back('\n');
  pending_.append(writer.line, 0, bytes);
  unfinished_ = pending_.back() == '\n' ? 0 : writer.number;
  writer.line.erase(0, bytes);
}

void LineSink::write_pending() {
  while (!pending_.empty()) {
    pollfd ready{target_, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) return;
    const ssize_t written = write_part();
    if (written >= 0) {
      pending_.erase(0, static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      error_ = errno;
      pending_.clear();
    }
  }
}

ssize_t LineSink::write_part() {
  if (is_socket_) return send(target_, pending_.data(), pending_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // A pipe that is ready takes this much without blocking. Others share its description: it must not be made
  // non-blocking for them.
  const std::size_t most = is_file_ ? pending_.size() : PIPE_BUF;
  return write(target_, pending_.data(), std::min(pending_.size(), most));
}

}  // namespace foldstep::launch
