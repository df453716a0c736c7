#pragma once

#include <chrono>

namespace foldstep {

/// How long a thread looks again for what it waits for before it sleeps. It must exceed what a
/// sleep and a wake cost, so that short waits stay short. It must stay far below the scheduler's
/// time slice: a thread that spins through its slice loses its core to another process at the
/// moment when it is needed. bench/NOTES.md has the curve that this time was chosen from.
constexpr auto look_again_time = std::chrono::microseconds(100);

/// Tells the processor that this is a spin loop.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Calls `look` until it says that what the thread waits for has come, or until the time is over.
/// Tells which. `look` pauses or yields by itself where it finds nothing.
template <typename Look>
bool look_again(std::chrono::steady_clock::time_point start, const Look& look) {
  while (std::chrono::steady_clock::now() - start < look_again_time) {
    if (look()) return true;
  }
  return false;
}

}  // namespace foldstep
