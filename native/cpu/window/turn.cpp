#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "cpu/comm/awaited.hpp"
#include "cpu/window/futex.hpp"
#include "cpu/window/signals.hpp"
#include "runtime/spin.hpp"

namespace foldstep::cpu {

namespace {

using namespace std::chrono_literals;

/// Pauses between two looks at anything but the epoch itself: a few microseconds.
constexpr int pauses_per_look = 64;
/// The longest sleep: how soon a closing stream or a peer's failure is noticed.
constexpr auto sleep_slice = 20ms;
/// How often a member that has not come is looked up in the process table.
constexpr auto process_check_interval = 100ms;

}  // namespace

Signals::Turn::Turn(Signals& signals, int channel, const std::vector<int>& members,
                    const Cancelled& cancelled)
    : signals_(signals),
      channel_(channel),
      members_(members),
      cancelled_(cancelled),
      epoch_(signals.channels_[static_cast<std::size_t>(channel)].epoch) {}

SignalBlock::Channel& Signals::Turn::channel_of(int peer) const {
  return signals_.peers_[static_cast<std::size_t>(peer)].block->channels[static_cast<std::size_t>(channel_)];
}

int Signals::Turn::rank_of(int peer) const {
  return signals_.peers_[static_cast<std::size_t>(peer)].world_rank;
}

const Descriptor& Signals::Turn::descriptor(std::size_t member) const {
  return channel_of(members_[member]).descriptor;
}

void Signals::Turn::enter(const Descriptor& mine) {
  mine_ = mine;
  channel_of(signals_.self_).descriptor = mine;
  barrier();
  const int self_rank = rank_of(signals_.self_);
  for (const int peer : members_) {
    const Descriptor& theirs = channel_of(peer).descriptor;
    if (theirs.agrees_with(mine)) continue;
    std::ostringstream text;
    text << "ranks of one team are about to do different things: rank " << self_rank << ' ' << mine.text()
         << "; rank " << rank_of(peer) << ' ' << theirs.text()
         << "; every member must make the same calls in the same order";
    throw Error(Code::OperationMismatch, text.str(), self_rank, rank_of(peer));
  }
  // A member may have come, waited in vain and given up: its data is its caller's again.
  for (const int peer : members_) {
    const SignalBlock& block = *signals_.peers_[static_cast<std::size_t>(peer)].block;
    if (block.state.load(std::memory_order_acquire) == SignalBlock::Failed) throw_failure_of(peer);
  }
}

void Signals::Turn::barrier() {
  ++epoch_;
  signals_.channels_[static_cast<std::size_t>(channel_)].epoch = epoch_;
  SignalBlock::Channel& own = channel_of(signals_.self_);
  // Both are sequentially consistent, as are a sleeper's steps: either it sees the epoch or it is seen here.
  own.epoch.store(epoch_);
  if (own.sleepers.load() != 0) futex_wake(own.epoch);
  const auto absent = [this](int peer) { return !poll(peer); };
  const auto first = std::find_if(members_.begin(), members_.end(), absent);
  if (first == members_.end()) return;
  const auto start = Clock::now();
  std::for_each(first, members_.end(), [this, start](int peer) { wait_for(peer, start); });
}

bool Signals::Turn::has_come(int peer) const {
  const std::uint32_t theirs = channel_of(peer).epoch.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(theirs - epoch_) >= 0;
}

void Signals::Turn::wait_for(int peer, Clock::time_point start) {
  if (signals_.context_->spin && spin(peer, start)) return;
  sleep(peer, start);
}

bool Signals::Turn::poll(int peer) const {
  for (int i = 0; i < pauses_per_look; ++i) {
    if (has_come(peer)) return true;
    spin_pause();
  }
  return false;
}

bool Signals::Turn::spin(int peer, Clock::time_point start) const {
  return look_again(start, [this, peer] {
    if (poll(peer)) return true;
    check_absent(false);
    return false;
  });
}

void Signals::Turn::sleep(int peer, Clock::time_point start) const {
  SignalBlock::Channel& theirs = channel_of(peer);
  auto next_process_check = start + process_check_interval;
  while (!has_come(peer)) {
    const auto now = Clock::now();
    check_absent(now >= next_process_check);
    if (now >= next_process_check) next_process_check = now + process_check_interval;
    if (now - start >= signals_.context_->deadline) give_up();

    theirs.sleepers.fetch_add(1);
    const std::uint32_t seen = theirs.epoch.load();
    if (static_cast<std::int32_t>(seen - epoch_) < 0) futex_wait(theirs.epoch, seen, sleep_slice);
    theirs.sleepers.fetch_sub(1);
  }
}

void Signals::Turn::check_absent(bool look_at_processes) const {
  const int self_rank = rank_of(signals_.self_);
  if (cancelled_.load(std::memory_order_relaxed)) {
    throw Error(Code::Aborted,
                "rank " + std::to_string(self_rank) + " closed its stream during " + mine_.text(), self_rank,
                self_rank);
  }
  for (const int peer : members_) {
    if (has_come(peer)) continue;
    const Peer& other = signals_.peers_[static_cast<std::size_t>(peer)];
    const std::uint32_t state = other.block->state.load(std::memory_order_acquire);
    const bool ended = look_at_processes && !other.process.alive();
    if (state == SignalBlock::Present && !ended) continue;
    if (has_come(peer)) continue;  // it came, and then ended
    if (state == SignalBlock::Failed) throw_failure_of(peer);
    const std::string how =
        ended ? "has ended (process " + std::to_string(other.process.pid) + ")" : "has given up the window";
    throw Error(Code::PeerExited,
                "rank " + std::to_string(other.world_rank) + ' ' + how + " while rank " +
                    std::to_string(self_rank) + " waited for it in " + mine_.text(),
                self_rank, other.world_rank);
  }
}

void Signals::Turn::throw_failure_of(int peer) const {
  const SignalBlock::Failure& failure = signals_.peers_[static_cast<std::size_t>(peer)].block->failure;
  throw Error(static_cast<Code>(failure.code), failure.text.data(), rank_of(signals_.self_), failure.peer);
}

void Signals::Turn::give_up() const {
  const int self_rank = rank_of(signals_.self_);
  std::vector<int> late;
  for (const int peer : members_) {
    if (!has_come(peer)) late.push_back(rank_of(peer));
  }
  if (late.empty()) return;
  const Diagnosis diagnosis = diagnose(late);
  std::ostringstream text;
  text << "rank " << self_rank << " waited "
       << std::chrono::duration<double>(signals_.context_->deadline).count() << " s in vain for "
       << list_ranks(late) << " in " << mine_.text() << diagnosis.text
       << "; see what becomes of that, or give a longer deadline";
  throw Error(Code::DeadlineExceeded, text.str(), self_rank, diagnosis.peer);
}

}  // namespace foldstep::cpu
