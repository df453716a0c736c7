#pragma once

namespace foldstep::cpu {

/// Tells the processor that this is a spin loop.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace foldstep::cpu
