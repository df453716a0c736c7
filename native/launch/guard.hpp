#pragma once

#include <string>

namespace foldstep::launch {

/// Starts the rank that the supervisor at `name` describes, reports how it ended, and ends in the same way.
/// The rank ends with this process, and this process with the supervisor. Returns an exit code.
int guard_rank(const std::string& name);

}  // namespace foldstep::launch
