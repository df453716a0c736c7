#include "cpu/window/signals.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <string>
#include <utility>

#include "cpu/window/futex.hpp"

namespace foldstep::cpu {

namespace {

/// What an ending process has not given up: `process.exit` runs no destructor of a window that is in use.
struct Registry {
  std::mutex mutex;
  std::set<Signals*> present;
};

Registry& registry() {
  static auto* const instance = new Registry;  // never destroyed: streams may end after the statics
  return *instance;
}

}  // namespace

Signals::Signals(std::shared_ptr<Context> context, std::vector<Peer> peers, int self)
    : context_(std::move(context)), peers_(std::move(peers)), self_(self) {
  const std::lock_guard lock(registry().mutex);
  registry().present.insert(this);
}

Signals::~Signals() {
  {
    const std::lock_guard lock(registry().mutex);
    registry().present.erase(this);
  }
  leave();
}

void Signals::leave_all() {
  const std::lock_guard lock(registry().mutex);
  for (Signals* const signals : registry().present) signals->leave();
}

void Signals::leave() {
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) leave_state(SignalBlock::Gone);
}

void Signals::take_turn(int channel, const std::vector<int>& members, Descriptor mine,
                        const Cancelled& cancelled, const std::function<void(Turn&)>& body) {
  Channel& local = channels_[static_cast<std::size_t>(channel)];
  const std::lock_guard lock(local.mutex);
  rethrow_failure();
  mine.sequence = ++local.sequence;
  try {
    Turn turn(*this, channel, members, cancelled);
    turn.enter(mine);
    body(turn);
  } catch (const Error& error) {
    if (error.code() != Code::OperationMismatch) retreat(channel);
    fail(error);
    throw;
  } catch (const std::exception& error) {
    retreat(channel);
    fail(Error(Code::Internal, error.what()));
    throw;
  }
}

void Signals::retreat(int channel) {
  const auto at = static_cast<std::size_t>(channel);
  peers_[static_cast<std::size_t>(self_)].block->channels[at].epoch.store(channels_[at].epoch - 1);
}

void Signals::rethrow_failure() {
  const std::lock_guard lock(failure_mutex_);
  if (failure_) throw Error(*failure_);
}

void Signals::fail(const Error& error) {
  const std::lock_guard lock(failure_mutex_);
  if (failure_) return;
  failure_ = error;

  const Peer& self = peers_[static_cast<std::size_t>(self_)];
  SignalBlock::Failure& record = self.block->failure;
  // To its peers, a rank whose stream was closed in mid-turn has left.
  const bool left = error.code() == Code::Aborted;
  record.code = static_cast<std::int32_t>(left ? Code::PeerExited : error.code());
  record.peer = left ? self.world_rank : error.peer();
  const std::string text = error.what();
  const std::size_t length = std::min(text.size(), record.text.size() - 1);
  std::copy_n(text.begin(), length, record.text.begin());
  record.text[length] = '\0';
  leave_state(SignalBlock::Failed);
}

void Signals::leave_state(SignalBlock::State state) {
  SignalBlock& block = *peers_[static_cast<std::size_t>(self_)].block;
  block.state.store(state);
  for (SignalBlock::Channel& channel : block.channels) {
    if (channel.sleepers.load() != 0) futex_wake(channel.epoch);
  }
}

}  // namespace foldstep::cpu
