#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cpu/cache_line.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/fold.hpp"

namespace foldstep::cpu {

/// The words of one rank that its peers read, at the start of its slab. Only that rank writes them (but for
/// the count of sleepers), so one that is killed leaves nothing half-written of another's.
struct SignalBlock {
  /// Epochs start shortly before their 32 bits wrap, so that the wrap is met at once and not after weeks.
  static constexpr std::uint32_t first_epoch = 0xffff'fff0U;

  struct Channel {
    /// Barriers of this channel that the rank has come to. Also the futex.
    alignas(cache_line) std::atomic<std::uint32_t> epoch{first_epoch};
    std::atomic<std::uint32_t> sleepers{0};  ///< peers in a futex wait on `epoch`
    alignas(cache_line) Descriptor descriptor;
  };

  enum State : std::uint32_t { Present = 0, Gone = 1, Failed = 2 };

  /// Why a rank uses the window no more; written before `state` says Failed.
  struct Failure {
    std::int32_t code = 0;  ///< of runtime/error.hpp
    std::int32_t peer = -1;
    std::array<char, 1016> text{};  ///< zero-terminated
  };

  std::array<Channel, channel_count> channels;
  alignas(cache_line) std::atomic<std::uint32_t> state{Present};
  Failure failure;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the words are shared between processes");

}  // namespace foldstep::cpu
