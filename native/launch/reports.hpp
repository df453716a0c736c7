#pragma once

#include "launch/ranks.hpp"

namespace foldstep::launch {

/// Tells whoever started the job what happens to it, a line each:
///
///     signal N                          a signal that asks the job to end has come
///     rank R own|asked exit|signal N    a rank has ended; asked: after the launcher had told it to
///     rank R own|asked lost             its guard was killed, and the rank with it
///     closed 1|2 ERRNO                  standard output or error takes no more
///     overdue ranks|launcher            what did not end in time is killed
///     launcher exit|signal N            the launcher has ended
class Reports {
 public:
  explicit Reports(int target);

  int target() const { return target_; }
  /// Whether somebody may still read them.
  bool wanted() const { return wanted_; }
  /// Looks whether the reader has gone.
  void look();

  void signal(int number) { tell("signal " + std::to_string(number)); }
  void rank(const Ranks::Ending& ending);
  void closed(int output, int error) {
    tell("closed " + std::to_string(output) + " " + std::to_string(error));
  }
  void overdue(const char* who) { tell(std::string("overdue ") + who); }
  void launcher(int status);

 private:
  void tell(std::string line);

  int target_;
  bool wanted_ = true;
};

}  // namespace foldstep::launch
