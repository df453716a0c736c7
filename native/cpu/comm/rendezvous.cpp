#include "cpu/comm/rendezvous.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cpu/comm/abandoned.hpp"
#include "cpu/comm/awaited.hpp"
#include "cpu/comm/backoff.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

constexpr int announcement_tag = 32001;

/// An announcement sent just before its sender left may be overtaken by the goodbye, which goes another way.
constexpr std::chrono::milliseconds farewell_grace{100};

}  // namespace

struct Rendezvous::Round {
  std::shared_ptr<Transport> transport;
  std::vector<Announcement> outgoing;
  std::vector<Announcement> incoming;
  std::vector<Transport::Pending> receives;  // by member; null once it has come
  std::vector<Transport::Pending> sends;     // by member; null once it is under way by itself

  const Announcement& intent() const { return outgoing[static_cast<std::size_t>(transport->rank())]; }
};

Rendezvous::Rendezvous(std::shared_ptr<Transport> transport, std::chrono::milliseconds deadline)
    : transport_(std::move(transport)), deadline_(deadline), world_ranks_(transport_->world_ranks()) {}

void Rendezvous::meet(Announcement mine, const Cancelled& cancelled) {
  mine.sequence = ++sequence_;
  exchange(
      std::vector<Announcement>(world_ranks_.size(), mine),
      [&](int member, const Announcement& theirs) { check_same(mine, member, theirs); }, cancelled);
}

void Rendezvous::meet_blocks(Announcement mine, const std::vector<std::size_t>& sends,
                             const std::vector<std::size_t>& expects, const Cancelled& cancelled) {
  mine.sequence = ++sequence_;
  std::vector<Announcement> outgoing(world_ranks_.size(), mine);
  for (std::size_t i = 0; i < outgoing.size(); ++i) {
    outgoing[i].detail[2] = sends[i];
    outgoing[i].detail[3] = expects[i];
  }
  const auto me = static_cast<std::size_t>(transport_->rank());
  // details of a verdict: sender, receiver, what the first sends, what the second expects
  Announcement verdict = announce("all-to-all verdict");
  const auto judge = [&](std::size_t sender, std::size_t receiver, std::uint64_t sent,
                         std::uint64_t expected) {
    if (sent == expected || verdict.count != 0) return;
    verdict = announce("all-to-all verdict", 1, sender, receiver);
    verdict.detail[2] = sent;
    verdict.detail[3] = expected;
  };
  judge(me, me, sends[me], expects[me]);
  exchange(
      outgoing,
      [&](int member, Announcement theirs) {
        const auto peer = static_cast<std::size_t>(member);
        judge(me, peer, sends[peer], theirs.detail[3]);
        judge(peer, me, theirs.detail[2], expects[peer]);
        theirs.detail[2] = theirs.detail[3] = 0;
        check_same(mine, member, theirs);
      },
      cancelled);

  verdict.sequence = ++sequence_;
  Announcement worst = verdict;
  exchange(
      std::vector<Announcement>(world_ranks_.size(), verdict),
      [&](int, const Announcement& theirs) {
        if (worst.count == 0) worst = theirs;
      },
      cancelled);
  if (worst.count == 0) return;
  const int sender = world_ranks_[worst.detail[0]];
  const int receiver = world_ranks_[worst.detail[1]];
  throw Error(Code::OperationMismatch,
              describe(mine) + ": rank " + std::to_string(sender) + " sends " +
                  std::to_string(worst.detail[2]) + " elements to rank " + std::to_string(receiver) +
                  ", which expects " + std::to_string(worst.detail[3]) +
                  "; a member's send count must be the other's receive count",
              self(), sender == self() ? receiver : sender);
}

void Rendezvous::check_same(const Announcement& mine, int member, const Announcement& theirs) const {
  if (same(mine, theirs)) return;
  const int peer = world_ranks_[static_cast<std::size_t>(member)];
  throw Error(Code::OperationMismatch,
              "rank " + std::to_string(self()) + " is about to " + describe(mine) + ", but rank " +
                  std::to_string(peer) + " is about to " + describe(theirs) +
                  "; every member must enqueue the same operations in the same order",
              self(), peer);
}

void Rendezvous::exchange(const std::vector<Announcement>& outgoing, const Accept& accept,
                          const Cancelled& cancelled) {
  const int size = transport_->size();
  const auto round = std::make_shared<Round>();
  round->transport = transport_;
  round->outgoing = outgoing;
  round->incoming.resize(outgoing.size());
  round->receives.resize(outgoing.size());
  round->sends.resize(outgoing.size());
  try {
    // Everyone begins with its right-hand neighbour, so that no member is everybody's first.
    for (int step = 1; step < size; ++step) {
      const int from = (transport_->rank() + size - step) % size;
      round->receives[from] =
          transport_->receive(&round->incoming[from], sizeof(Announcement), from, announcement_tag);
    }
    for (int step = 1; step < size; ++step) {
      const int to = (transport_->rank() + step) % size;
      round->sends[to] = transport_->send(&round->outgoing[to], sizeof(Announcement), to, announcement_tag);
    }
    collect(*round, accept, cancelled);
  } catch (...) {
    abandon(round);
    throw;
  }
}

void Rendezvous::collect(Round& round, const Accept& accept, const Cancelled& cancelled) {
  std::vector<std::chrono::nanoseconds> left_at(round.receives.size(), std::chrono::nanoseconds::max());
  std::size_t unreceived = round.receives.size() - 1;
  std::size_t unsent = unreceived;
  LivenessCheck liveness;
  for (Backoff backoff(deadline_);; backoff.pause()) {
    for (std::size_t member = 0; member < round.receives.size(); ++member) {
      if (round.receives[member] == nullptr || !round.receives[member]->test()) continue;
      round.receives[member] = nullptr;
      --unreceived;
      accept(static_cast<int>(member), round.incoming[member]);
    }
    for (Transport::Pending& send : round.sends) {
      if (send == nullptr || !send->test()) continue;
      send = nullptr;
      --unsent;
    }
    if (unreceived == 0 && unsent == 0) return;

    if (cancelled.load(std::memory_order_relaxed)) {
      throw Error(Code::Aborted,
                  "the stream was closed while rank " + std::to_string(self()) + " waited to " +
                      describe(round.intent()),
                  self());
    }
    if (backoff.expired()) fail_late(round);
    if (!backoff.worn()) continue;
    for (std::size_t member = 0; member < round.receives.size(); ++member) {
      if (round.receives[member] == nullptr || !transport_->has_left(static_cast<int>(member))) continue;
      left_at[member] = std::min(left_at[member], backoff.waited());
      if (backoff.waited() - left_at[member] >= farewell_grace) {
        fail_left(round, world_ranks_[member], " has exited");
      }
    }
    if (!liveness.is_due(backoff.waited())) continue;
    const int ended = liveness.find_ended(awaited(round), backoff.waited());
    if (ended >= 0) fail_left(round, ended, " has ended without a word");
  }
}

std::vector<int> Rendezvous::awaited(const Round& round) const {
  std::vector<int> ranks;
  for (const auto* messages : {&round.receives, &round.sends}) {
    for (std::size_t member = 0; member < messages->size(); ++member) {
      if ((*messages)[member] != nullptr) ranks.push_back(world_ranks_[member]);
    }
    if (!ranks.empty()) break;
  }
  return ranks;
}

void Rendezvous::fail_left(const Round& round, int peer, const char* how) const {
  throw Error(Code::PeerExited,
              "rank " + std::to_string(peer) + how + ", but rank " + std::to_string(self()) +
                  " waits for it to " + describe(round.intent()) + diagnose({peer}).text +
                  "; every rank must enqueue the same operations before it ends",
              self(), peer);
}

void Rendezvous::fail_late(const Round& round) const {
  const std::vector<int> late = awaited(round);
  const Diagnosis diagnosis = diagnose(late);
  throw Error(Code::DeadlineExceeded,
              list_ranks(late) + " did not come within " + std::to_string(deadline_.count()) + " ms to " +
                  describe(round.intent()) + ", for which rank " + std::to_string(self()) + " waits" +
                  diagnosis.text +
                  "; every member must enqueue the same operations in the same order (a longer deadline "
                  "helps if the others are only slow)",
              self(), diagnosis.peer);
}

}  // namespace foldstep::cpu
