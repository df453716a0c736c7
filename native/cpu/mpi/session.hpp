#pragma once

#include <mpi.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace foldstep::cpu {

/// MPI as this process uses it: one call at a time, so that MPI_THREAD_SERIALIZED is enough, none after
/// finalization, and every failure an Error. One per process.
class Session {
 public:
  static Session& get();

  /// `body` makes MPI calls and gives the first failing code or MPI_SUCCESS. `what` names them in the error.
  template <typename Body>
  void call(const char* what, Body body) {
    const std::lock_guard lock(mutex_);
    check_open();
    check(what, body());
  }

  /// For a call that waits for other ranks: another thread of theirs may have to make a call of its own
  /// before they come, so with MPI_THREAD_MULTIPLE it runs beside those.
  template <typename Body>
  void blocking_call(const char* what, Body body) {
    std::unique_lock lock(mutex_);
    check_open();
    if (concurrent_) lock.unlock();
    ++blocked_;
    const int result = body();
    --blocked_;
    check(what, result);
  }

  /// Errors: Code::MpiFailed.
  void open();
  /// Tells the other ranks that this one ends; poll has_left() for their goodbyes.
  void say_goodbye();
  bool has_left(int world_rank);
  /// Whether a blocking call is still under way: MPI cannot be finalized beneath it.
  bool blocked() const { return blocked_ > 0; }
  void close();
  [[noreturn]] void abort(int code);

  int size() const { return static_cast<int>(left_.size()); }
  int rank() const { return rank_; }

 private:
  void check_open() const;
  void check(const char* what, int result) const;

  std::mutex mutex_;
  enum class Phase { Unopened, Open, Closed };
  std::atomic<Phase> phase_ = Phase::Unopened;
  std::atomic<int> blocked_ = 0;
  bool concurrent_ = false;
  int rank_ = -1;
  std::vector<bool> left_;              // by world rank
  MPI_Comm farewells_ = MPI_COMM_NULL;  // carries goodbyes and nothing else
  std::vector<MPI_Request> farewells_sent_;
};

}  // namespace foldstep::cpu
