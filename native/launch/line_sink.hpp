#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "launch/descriptor.hpp"

struct pollfd;

namespace foldstep::launch {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

/// Brings the lines of several writers to one descriptor, each line whole, without ever blocking. An
/// unfinished line is shown when nothing has followed for a while; the next of another writer begins on a new
/// one. It holds a bounded number of bytes: writers that are faster than the reader wait in their own pipes.
class LineSink {
 public:
  /// The descriptor stays the caller's.
  explicit LineSink(int target);

  /// The end of a pipe that a new writer may write into.
  Descriptor add_writer();

  /// Adds what there is to wait for.
  void wait_for(std::vector<pollfd>& waiting, Deadline& wake) const;
  /// Reads and writes what can be read and written now.
  void move();
  /// From now on a pipe that is empty is done with, even if a process that outlives its rank holds it open.
  void finish() { finishing_ = true; }
  /// Whether all writers are done and what they wrote is written, or can never be.
  bool done() const { return writers_.empty() && pending_.empty(); }
  /// Why the target takes no more; 0 while it does.
  int error() const { return error_; }

 private:
  struct Writer {
    int number;
    Descriptor pipe;
    /// An unfinished line.
    std::string line;
    Clock::time_point last_read;
  };

  bool takes_from(const Writer& writer) const;
  void read_from(Writer& writer);
  void take_lines(Writer& writer);
  void take(Writer& writer, std::size_t bytes);
  void write_pending();
  ssize_t write_part();

  int target_;
  bool is_socket_;
  bool is_file_;
  std::list<Writer> writers_;
  /// It has begun a line that is longer than what is held; others wait for its end.
  Writer* owner_ = nullptr;
  /// The number of the writer whose unfinished line was taken last; 0 after a finished one.
  int unfinished_ = 0;
  int writers_so_far_ = 0;
  std::string pending_;
  bool finishing_ = false;
  int error_ = 0;
};

}  // namespace foldstep::launch
