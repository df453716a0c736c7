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
  /// In the order in which they explain a wait: the best explanation first.
  enum class State {
    Gone,     ///< was here, and has ended
    Stopped,  ///< is here, and is stopped by a signal or a debugger
    Unseen,   ///< has never been seen on this host
    Unknown,  ///< nothing can be told: the launcher gives the job no name, or this process has not appeared
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
/// takes the name back when the process ends, however it ends. One per process.
class Presence {
 public:
  static Presence& get();

  /// Shows this process as the rank that `launch` tells; once shown, again does nothing. Errors:
  /// Code::MpiUnavailable if another process is this rank, such as the one that started this one.
  void appear(const Launch& launch);
  /// Looks for every rank of a world of `size` once, so that those that end later are known to have been
  /// here. To be called when all have come.
  void note_all(int size);

  Sighting look_for(int world_rank);
  Absence explain(const std::vector<int>& world_ranks);

 private:
  std::string name_of(int world_rank) const;
  bool find(int world_rank, ProcessIdentity& found) const;
  Sighting look(int world_rank);
  std::string describe(int world_rank, const Sighting& sighting) const;

  std::mutex mutex_;
  std::string job_;  // empty: this process has not appeared
  bool one_host_ = false;
  bool noted_ = false;
  std::map<int, ProcessIdentity> seen_;  // by world rank
};

}  // namespace foldstep::cpu
