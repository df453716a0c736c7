#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace foldstep::cpu {

/// How many cores' time the control groups (version 1 and 2) of a process let it have, which may be part of a
/// core: the least of the quotas of its group and of those around it. Infinite where there is no quota; none
/// where the process is not seen. `root` is the folder that holds /proc and /sys.
std::optional<double> quota_of(pid_t process, const std::string& root = "");

}  // namespace foldstep::cpu
