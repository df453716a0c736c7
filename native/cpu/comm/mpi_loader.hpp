#pragma once

#include "cpu/mpi/mpi_library.hpp"

namespace foldstep::cpu {

/// Loads foldstep_mpi.so, from the folder of the code that asks or from the file that FOLDSTEP_MPI_PLUGIN
/// names. Errors: Code::MpiUnavailable, with what is missing and how to mend it.
MpiLibrary& load_mpi_library();

}  // namespace foldstep::cpu
