#pragma once

#include <sys/types.h>

namespace foldstep::launch {

/// Removes the folder for temporary files of an Open MPI launcher that was killed, and so did not do it
/// itself. Does nothing for other launchers.
void remove_session_folder(pid_t launcher);

}  // namespace foldstep::launch
