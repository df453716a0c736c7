#include "launch/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <string>
#include <vector>

#include "launch/arguments_file.hpp"
#include "launch/launcher_process.hpp"
#include "launch/ranks.hpp"
#include "launch/reports.hpp"
#include "launch/signals.hpp"
#include "launch/streams.hpp"

namespace foldstep::launch {

namespace {

using std::chrono::milliseconds;

// Some launchers never end, because they wait for themselves. After its last rank has ended, a launcher is
// given this time before it is killed.

/// Where the job was told to end.
constexpr milliseconds tidying{3000};
/// Where all ranks ended by themselves.
constexpr milliseconds grace_period{15000};
/// npx passes on a signal that the terminal has sent to us as well: within this time both are one.
constexpr milliseconds echo{500};

class Supervisor {
 public:
  explicit Supervisor(const Job& job)
      : job_(job), program_(write_arguments(job.program)), ranks_(job.ranks) {}

  int run() {
    signal(SIGPIPE, SIG_IGN);
    start_launcher();
    while (!done()) {
      wait();
      hear_signals();
      hear_owner();
      hear_ranks();
      move_output();
      hear_launcher();
      keep_deadline();
    }
    return 0;
  }

 private:
  enum class Phase { Running, Asked, Killed };

  bool done() { return launcher_.ended() && (abandoned_ || (streams_.done() && !ranks_.any_dying())); }

  void start_launcher() {
    std::vector<std::string> command(job_.launcher.begin(), job_.launcher.end());
    std::array<char, 4096> self{};
    if (readlink("/proc/self/exe", self.data(), self.size() - 1) > 0) command.emplace_back(self.data());
    command.insert(command.end(), {"rank", ranks_.name()});
    launcher_.start(command, streams_.add_launcher().number());
  }

  void wait() {
    std::vector<pollfd> waiting{{signals_.number(), POLLIN, 0}};
    if (reports_.wanted()) waiting.push_back({reports_.target(), POLLIN, 0});
    ranks_.wait_for(waiting);
    Deadline wake = deadline_;
    streams_.wait_for(waiting, wake);
    long long limit = -1;
    if (wake) {
      limit = std::clamp<long long>(std::chrono::ceil<milliseconds>(*wake - Clock::now()).count(), 0,
                                    std::numeric_limits<int>::max());
    }
    poll(waiting.data(), waiting.size(), static_cast<int>(limit));
  }

  void hear_signals() {
    signalfd_siginfo received{};
    while (read(signals_.number(), &received, sizeof received) > 0) {
      const int number = static_cast<int>(received.ssi_signo);
      if (is_end_signal(number)) {
        hear_end_signal(number);
      } else if (number != SIGCHLD) {
        ranks_.signal_running(number);
      }
    }
  }

  void hear_end_signal(int number) {
    const Clock::time_point now = Clock::now();
    if (launcher_.ended()) {
      // Only a reader that takes nothing keeps the job from its end.
      abandoned_ = true;
    } else if (!asked_) {
      asked_ = now;
      reports_.signal(number);
      ask(number);
    } else if (now > *asked_ + echo) {
      kill_ranks();
    }
  }

  void hear_owner() {
    if (!reports_.wanted()) return;
    reports_.look();
    if (reports_.wanted()) return;
    abandoned_ = true;
    kill_ranks();
  }

  void hear_ranks() {
    ranks_.hear([this](int socket, int rank) { return start_rank(socket, rank); },
                [this](const Ranks::Ending& ending) {
                  reports_.rank(ending);
                  if (phase_ == Phase::Asked && !ranks_.any_running()) allow(tidying);
                  if (phase_ == Phase::Running && ranks_.all_ended()) allow(grace_period);
                });
    // A launcher that sees a rank end badly kills the others within a second; those that were asked to end
    // are to have the time they were promised.
    if (phase_ != Phase::Asked || !ranks_.any_running()) ranks_.release();
  }

  bool start_rank(int socket, int rank) {
    if (phase_ != Phase::Running) return false;
    const Streams::Outputs outputs = streams_.add_rank();
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int input = rank == 0 ? STDIN_FILENO : nothing.number();
    const Files files{input, outputs.output.number(), outputs.error.number(), program_.number()};
    return send_message(socket, {Kind::Start}, &files);
  }

  void move_output() {
    streams_.move();
    for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
      const int error = streams_.error_of(output);
      if (error == 0 || closed_[output]) continue;
      closed_[output] = true;
      reports_.closed(output, error);
      ask(SIGTERM);
    }
  }

  void hear_launcher() {
    const auto status = launcher_.reap();
    if (!status) return;
    ranks_.kill_running();
    streams_.finish();
    reports_.launcher(*status);
    deadline_.reset();
    // A reader that takes nothing must not keep a job that was told to end.
    if (phase_ != Phase::Running) allow(tidying);
  }

  /// Passes a signal on, after which the ranks have the time of grace.
  void ask(int number) {
    if (phase_ != Phase::Running || launcher_.ended()) return;
    phase_ = Phase::Asked;
    ranks_.signal_running(number);
    // A rank that is stopped would not hear it.
    ranks_.signal_running(SIGCONT);
    allow(ranks_.any_running() ? job_.grace : tidying);
  }

  void kill_ranks() {
    if (launcher_.ended()) return;
    phase_ = Phase::Killed;
    ranks_.signal_running(SIGKILL);
    allow(tidying);
  }

  void allow(milliseconds time) { deadline_ = Clock::now() + time; }

  void keep_deadline() {
    if (!deadline_ || Clock::now() < *deadline_) return;
    deadline_.reset();
    if (launcher_.ended()) {
      abandoned_ = true;
    } else if (phase_ == Phase::Asked && ranks_.any_running()) {
      reports_.overdue("ranks");
      kill_ranks();
    } else {
      reports_.overdue("launcher");
      launcher_.kill();
    }
  }

  const Job job_;
  const Descriptor program_;
  // Before the ranks can send any.
  const Descriptor signals_ = receive_signals({SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD});
  Reports reports_{3};
  Streams streams_;
  Ranks ranks_;
  LauncherProcess launcher_;
  Phase phase_ = Phase::Running;
  /// When a signal first asked the job to end.
  Deadline asked_;
  /// When what is waited for is killed, or output given up.
  Deadline deadline_;
  /// Whether output that nobody takes is given up.
  bool abandoned_ = false;
  std::array<bool, 3> closed_{};
};

}  // namespace

int supervise(const Job& job) {
  return Supervisor(job).run();
}

}  // namespace foldstep::launch
