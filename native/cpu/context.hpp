#pragma once

#include <chrono>

#include "cpu/scratch.hpp"
#include "cpu/threads.hpp"
#include "runtime/ledger.hpp"

namespace foldstep::cpu {

/// What the parts of one CPU backend share. Outlives them: each holds a shared_ptr to it.
struct Context {
  std::chrono::milliseconds deadline{60'000};
  bool spin = true;  ///< each rank of this host has a core: a waiting one may keep it
  Ledger ledger;
  Scratch scratch;
  Threads threads;

  Context(std::chrono::milliseconds deadline_, bool spin_, int thread_count)
      : deadline(deadline_), spin(spin_), threads(thread_count) {}
};

}  // namespace foldstep::cpu
