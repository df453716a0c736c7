#pragma once

namespace foldstep::cpu {

/// Whether an MPI launcher started this process, from what launchers leave in the environment. A batch
/// system's allocation alone is none.
bool started_by_mpi_launcher();

/// The ranks of this host as the launcher tells, 0 if it does not.
int launched_ranks_of_host();

}  // namespace foldstep::cpu
