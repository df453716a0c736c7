#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "launch/channel.hpp"

struct pollfd;

namespace foldstep::launch {

/// The guards of a job's ranks, as the supervisor sees them.
class Ranks {
 public:
  /// How a rank ended. Without a status, its guard was killed together with it.
  struct Ending {
    int rank;
    std::optional<int> status;
    /// Whether the launcher had told it to.
    bool asked;
  };

  explicit Ranks(int expected);

  /// By which guards find the supervisor.
  const std::string& name() const { return name_; }
  /// Whether every rank has been there and has ended.
  bool all_ended() const { return ended_ == expected_; }
  bool any_running() const;
  /// Whether a rank that was killed is still on its way out.
  bool any_dying();

  void wait_for(std::vector<pollfd>& waiting) const;
  /// Hears guards. `start` sends a new one its files, or returns false to have it go.
  void hear(const std::function<bool(int socket, int rank)>& start,
            const std::function<void(const Ending&)>& report);
  /// To every process of every rank that runs.
  void signal_running(int number) const;
  /// Kills those that run, without a report.
  void kill_running();
  /// Guards of ranks that have ended may end too.
  void release();

 private:
  struct Guard {
    Descriptor socket;
    pid_t process;
    /// -1 until it has said.
    int rank = -1;
    bool running = false;
    bool asked = false;
    bool released = false;
  };

  void accept_all();
  void kill(Guard& guard);

  int expected_;
  int ended_ = 0;
  std::string name_;
  Descriptor listener_;
  std::list<Guard> guards_;
  /// Process groups that were killed.
  std::vector<pid_t> dying_;
};

}  // namespace foldstep::launch
