#pragma once

#include <chrono>
#include <span>

namespace foldstep::launch {

/// What to start.
struct Job {
  int ranks;
  /// What ranks have to end after a signal that asks them to.
  std::chrono::milliseconds grace;
  /// A rank's program and arguments.
  std::span<char* const> program;
  /// The launcher and its arguments; empty for one rank, which needs none.
  std::span<char* const> launcher;
};

/// Runs the job to its end, and reports on descriptor 3. When that is closed at its other end, whoever
/// started the job has died, and all ranks are killed. Returns an exit code.
int supervise(const Job& job);

}  // namespace foldstep::launch
