#pragma once

#include <optional>
#include <string>

namespace foldstep::cpu {

/// What the launcher that started this process tells it, in environment variables.
struct Launch {
  const char* launcher = "";            ///< for people
  bool offers_mpi = true;               ///< an MPI library can find the other ranks by it
  int rank = -1;                        ///< in the world; -1 if not told
  int size = -1;                        ///< ranks of the world; -1 if not told
  int local_size = 0;                   ///< ranks of this host; 0 if not told
  const char* rank_variable = nullptr;  ///< that `rank` is from
  const char* size_variable = nullptr;  ///< that `size` is from
  /// The same for all ranks of the job on this host, and for those of no other job. Empty if not told.
  std::string job;

  /// Whether all ranks are known to be on this host.
  bool on_one_host() const { return size > 0 && local_size == size; }
  /// Whether what is told agrees with that place in a world.
  bool matches(int rank_in_world, int world_size) const;
  /// Such as "srun started this process as rank 1 of 2 (SLURM_PROCID=1, SLURM_STEP_NUM_TASKS=2)".
  std::string describe() const;
};

/// Nothing if no launcher of several processes started this one. A batch system's allocation alone is none,
/// and neither is the shell of a batch script.
std::optional<Launch> this_launch();

}  // namespace foldstep::cpu
