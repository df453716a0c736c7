#pragma once

#include <memory>

namespace foldstep::cpu {

/// Keeps what an unfinished request of MPI may still touch until the process ends: MPI offers no way to take
/// back a collective, or a message that has begun.
void abandon(std::shared_ptr<const void> owner);

}  // namespace foldstep::cpu
