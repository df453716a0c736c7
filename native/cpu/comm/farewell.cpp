#include "cpu/comm/farewell.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/comm/awaited.hpp"
#include "cpu/comm/presence.hpp"

namespace foldstep::cpu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// Ranks end at about the same time, or one works on for long: the polls soon become rare.
constexpr std::chrono::nanoseconds shortest_nap = 200us;
constexpr std::chrono::nanoseconds longest_nap = 20ms;

void say(const std::string& text) {
  std::fprintf(stderr, "foldstep: %s\n", text.c_str());
}

/// A thread that watches the wait for the other ranks, MPI_Finalize included: it tells whom this rank waits
/// for, and ends the job at last.
class ExitWatch {
 public:
  ExitWatch(MpiLibrary& library, int rank, std::vector<int> missing, const FarewellTimes& times)
      : library_(library), rank_(rank), times_(times), missing_(std::move(missing)) {
    thread_ = std::thread([this] { run(); });
  }
  ~ExitWatch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

  void waits_for(std::vector<int> ranks) {
    const std::lock_guard lock(mutex_);
    missing_ = std::move(ranks);
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    if (sleep(lock, times_.deadline)) return;
    if (speaks_for_all()) say(describe_wait() + "; " + describe_what_follows());
    if (sleep(lock, times_.exit_timeout)) return;
    if (speaks_for_all()) say(describe_wait() + "; the job is ended with code 1");
    library_.abort(1);
  }

  /// One rank speaks for all that have ended.
  bool speaks_for_all() const {
    const auto waits_too = [&](int rank) {
      return std::find(missing_.begin(), missing_.end(), rank) == missing_.end() &&
             Presence::get().look_for(rank).state == Sighting::State::Here;
    };
    for (int rank = 0; rank < rank_; ++rank) {
      if (waits_too(rank)) return false;
    }
    return true;
  }

  std::string describe_wait() const {
    const std::string self = "rank " + std::to_string(rank_);
    if (missing_.empty()) {
      return "every rank has ended, but " + self + " waits for the others in MPI_Finalize" +
             diagnose({}).text;
    }
    return self + " has ended and waits for " + list_ranks(missing_) + " to end" + "; " +
           Presence::get().explain(missing_).text;
  }

  std::string describe_what_follows() const {
    const auto seconds = std::chrono::duration<double>(times_.exit_timeout).count();
    std::ostringstream text;
    text << "it waits " << seconds << " s more and then ends the job with code 1 (init's exitTimeoutMs)";
    return text.str();
  }

  /// True if the wait was over within `time`, which may be more than a clock counts.
  bool sleep(std::unique_lock<std::mutex>& lock, milliseconds time) {
    const auto begin = Clock::now();
    while (!over_) {
      const auto left = time - duration_cast<milliseconds>(Clock::now() - begin);
      if (left <= 0ms) return false;
      changed_.wait_for(lock, std::min<milliseconds>(left, 1h));
    }
    return true;
  }

  MpiLibrary& library_;
  int rank_;
  FarewellTimes times_;
  std::vector<int> missing_;
  bool over_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace

void leave_job(MpiLibrary& library, int rank, int size, const FarewellTimes& times) {
  if (!library.can_finalize()) {
    say("rank " + std::to_string(rank) +
        " has given up a call that is still inside MPI and cannot leave the job; the job is ended with code "
        "1");
    library.abort(1);
  }
  library.say_goodbye();
  std::vector<int> missing;
  for (int other = 0; other < size; ++other) {
    if (other != rank) missing.push_back(other);
  }
  ExitWatch watch(library, rank, missing, times);
  const auto begin = Clock::now();
  while (true) {
    if (std::erase_if(missing, [&](int other) { return library.has_left(other); }) > 0) {
      watch.waits_for(missing);
    }
    if (missing.empty()) break;
    std::this_thread::sleep_for(
        std::clamp<std::chrono::nanoseconds>((Clock::now() - begin) / 32, shortest_nap, longest_nap));
  }
  library.finalize();
}

}  // namespace foldstep::cpu
