#include "cpu/comm/completion.hpp"

#include <algorithm>

#include "cpu/comm/awaited.hpp"
#include "cpu/comm/backoff.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {

void Completion::wait_for(Request& operation, const Cancelled& cancelled) const {
  const std::string rank = "rank " + std::to_string(own_rank());
  LivenessCheck liveness;
  for (Backoff backoff(deadline_); !operation.test(); backoff.pause()) {
    if (cancelled.load(std::memory_order_relaxed)) {
      throw Error(Code::Aborted, "the stream was closed in the middle of a collective of " + rank,
                  own_rank());
    }
    if (backoff.expired()) fail_late(operation);
    if (!liveness.is_due(backoff.waited())) continue;
    const int ended = liveness.find_ended(awaited(operation), backoff.waited());
    if (ended < 0 || operation.test()) continue;
    throw Error(Code::PeerExited,
                "rank " + std::to_string(ended) + " has ended, but " + rank +
                    " waits for it in the middle of a collective" + diagnose({ended}).text,
                own_rank(), ended);
  }
}

std::vector<int> Completion::awaited(Request& operation) const {
  std::vector<int> ranks;
  for (const int member : operation.awaited())
    ranks.push_back(world_ranks_[static_cast<std::size_t>(member)]);
  if (ranks.empty()) {
    ranks = world_ranks_;
    std::erase(ranks, own_rank());
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void Completion::fail_late(Request& operation) const {
  const std::vector<int> ranks = awaited(operation);
  const std::vector<int> causes = likely_causes(ranks);
  const bool told = causes.size() == 1 || causes.size() < ranks.size();
  throw Error(Code::DeadlineExceeded,
              "rank " + std::to_string(own_rank()) +
                  " met the other members, but the collective did not end within " +
                  std::to_string(deadline_.count()) + " ms: it waits for " + list_ranks(causes) +
                  diagnose(ranks).text +
                  "; see what becomes of them, or give a longer deadline if the network is slow",
              own_rank(), told ? causes.front() : -1);
}

}  // namespace foldstep::cpu
