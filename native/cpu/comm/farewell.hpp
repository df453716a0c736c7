#pragma once

#include <chrono>

#include "cpu/mpi/mpi_library.hpp"

namespace foldstep::cpu {

/// How long a rank that ends well waits for those that do not end.
struct FarewellTimes {
  std::chrono::milliseconds deadline;      ///< then it tells on stderr who is still running
  std::chrono::milliseconds exit_timeout;  ///< and this much later it ends the job
};

/// The end of a rank that ends well: says goodbye, waits for the other ranks' goodbyes, and finalizes MPI.
/// Does not return where the job had to be ended with a code that is not 0.
void leave_job(MpiLibrary& library, int rank, int size, const FarewellTimes& times);

}  // namespace foldstep::cpu
