#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cpu/comm/launcher.hpp"
#include "cpu/window/process.hpp"

namespace foldstep::cpu {

/// What this host can tell of a rank.
struct Sighting {
  /// In the order in which they explain a wait: the best explanation first. A rank that has ended may have
  /// given up because of one that is stopped or has not come.
  enum class State {
    Stopped,    ///< is here, and is stopped by a signal or a debugger
    NotCome,    ///< has not been seen on this host, and not all have come yet
    Gone,       ///< was here, and has ended
    Elsewhere,  ///< has come, and is on another host
    Unknown,    ///< nothing can be told: the launcher gives the job no name, or this process has not appeared
    Here,
  } state = State::Unknown;
  pid_t process = 0;  ///< 0 if not known
};

/// Words on ranks that are waited for.
struct Absence {
  std::string text;  ///< such as "rank 3 (process 4711) is stopped; rank 2 has not called init()"
  int rank = -1;     ///< the one that most likely causes the wait
};

/// How the ranks of a job that are on this host know of each other, without MPI and without files: each binds
/// a socket to a name that holds the user, the job and the rank, in Linux's abstract namespace. The kernel
/// takes the name back when the process ends, however it ends. A rank has one.
class Presence {
 public:
  static Presence& get();

  Presence() = default;
  ~Presence();
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  /// Shows this process as the rank that `launch` tells; once shown, again does nothing. Errors:
  /// Code::MpiUnavailable if another process is this rank, such as the one that started this one.
  void appear(const Launch& launch);
  /// Looks for the ranks of a world of `size` that have not been seen yet, so that those that end later are
  /// known to have been here.
  void look_around(int size);
  /// The same when all ranks have come.
  void all_have_come(int size);

  Sighting look_for(int world_rank);
  Absence explain(const std::vector<int>& world_ranks);
  /// Of all ranks that have been seen, those that have ended or are stopped; no text where there is none.
  Absence explain_unwell();

 private:
  std::string name_of(int world_rank) const;
  bool find(int world_rank, ProcessIdentity& found) const;
  void note_unseen(int size);
  Sighting look(int world_rank);
  std::string describe(int world_rank, const Sighting& sighting) const;
  Absence explain_locked(const std::vector<int>& world_ranks);

  std::mutex mutex_;
  int socket_ = -1;
  std::string job_;  // empty: this process has not appeared
  bool one_host_ = false;
  bool all_have_come_ = false;
  std::map<int, ProcessIdentity> seen_;  // by world rank
};

}  // namespace foldstep::cpu
