#pragma once

#include <vector>

#include "launch/channel.hpp"
#include "launch/line_sink.hpp"

namespace foldstep::launch {

/// Where a job's output goes: ranks write to a terminal themselves, and to anything else through a pipe each,
/// so that no line of one cuts one of another, and no launcher meets a reader that has gone.
class Streams {
 public:
  Streams();

  /// Standard output and error for a new rank.
  struct Outputs {
    Descriptor output;
    Descriptor error;
  };
  Outputs add_rank();
  /// For what the launcher itself says.
  Descriptor add_launcher() { return errors_.add_writer(); }

  void wait_for(std::vector<pollfd>& waiting, Deadline& wake) const;
  void move();
  void finish();
  bool done() const { return output_.done() && errors_.done(); }

  /// Why standard output (1) or error (2) takes no more; 0 while it does.
  int error_of(int number) const { return number == 1 ? output_.error() : errors_.error(); }

 private:
  bool output_is_terminal_;
  bool errors_are_terminal_;
  /// Both then go through one pipe, and keep their order.
  bool same_;
  LineSink output_{1};
  LineSink errors_{2};
};

}  // namespace foldstep::launch
