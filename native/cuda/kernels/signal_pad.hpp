#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/descriptor.hpp"
#include "runtime/fold.hpp"

/// The words by which ranks meet in device memory. A rank writes into its peers' pads and waits on its own,
/// so that nobody polls over the link. Each word has one writer.
namespace foldstep::cuda {

/// The most ranks of a window.
constexpr int max_members = 64;

/// Epochs start shortly before their 32 bits wrap, so that the wrap is met at once and not after weeks.
constexpr std::uint32_t first_epoch = 0xffff'fff0U;

static_assert(std::is_trivially_copyable_v<Descriptor> && sizeof(Descriptor) % 8 == 0);

/// What one sender tells on one channel.
struct alignas(64) SignalSlot {
  /// Written before the epoch of a meeting that announces.
  Descriptor descriptor;
  /// Meetings of the channel that the sender has come to, in every one of which it waits for all.
  std::uint32_t epoch = first_epoch;
};

/// Why a rank that has failed will not come any more. Zero: it has not failed.
struct Abort {
  std::uint32_t reason = 0;  ///< 1 + Code
  std::int32_t peer = -1;    ///< place in the window of whom the failure is about
};

struct SignalPad {
  SignalSlot slots[channel_count][max_members];  ///< by sender's place in the window
  Abort aborts[max_members];                     ///< by sender's place in the window
  /// Word of the host that owns the pad: not zero once it wants waiting kernels to end.
  std::uint32_t cancelled = 0;
  std::uint32_t probe[max_members];  ///< by sender's place: what it wrote to prove that it can
  /// By importer's place: not zero once it reaches the slab no more. The owner may not free it before.
  std::uint32_t closed[max_members];
};

/// What became of a stream's operations, in its device memory.
struct Status {
  enum Reason : std::uint32_t { Fine = 0, Late = 1, Mismatch = 2, PeerAborted = 3, Cancelled = 4 };

  std::uint32_t failed = 0;
  std::uint32_t reason = Fine;
  std::int32_t member = -1;  ///< in the team, whom it is about
  std::uint32_t ticket = 0;  ///< of the meeting that failed
  Abort abort;               ///< of that member
  Descriptor theirs;         ///< of that member
};

}  // namespace foldstep::cuda
