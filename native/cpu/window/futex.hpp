#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace foldstep::cpu {

/// Sleeps while `word` holds `seen`, at most for `time`. Works between processes. May return early.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds time);
/// Wakes all sleepers of `word` in every process.
void futex_wake(std::atomic<std::uint32_t>& word);

}  // namespace foldstep::cpu
