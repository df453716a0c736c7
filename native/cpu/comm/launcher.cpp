#include "cpu/comm/launcher.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace foldstep::cpu {

bool started_by_mpi_launcher() {
  constexpr std::array marks{
      "OMPI_COMM_WORLD_SIZE",  // Open MPI's mpirun
      "PMIX_RANK",             // PRRTE, srun --mpi=pmix
      "PMI_RANK",
      "PMI_SIZE",             // Hydra (MPICH, Intel MPI), srun --mpi=pmi2
      "MPI_LOCALNRANKS",      // Hydra
      "MV2_COMM_WORLD_SIZE",  // MVAPICH
      "PALS_RANKID",          // Cray
  };
  return std::any_of(marks.begin(), marks.end(),
                     [](const char* mark) { return std::getenv(mark) != nullptr; });
}

int launched_ranks_of_host() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return 0;
}

}  // namespace foldstep::cpu
