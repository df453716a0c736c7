#include "cpu/comm/awaited.hpp"

#include <algorithm>
#include <iterator>

#include "cpu/comm/presence.hpp"

namespace foldstep::cpu {
namespace {

using State = Sighting::State;

constexpr std::chrono::milliseconds between_looks{250};

State state_of(int world_rank) {
  return Presence::get().look_for(world_rank).state;
}

bool is_unwell(int world_rank) {
  const State state = state_of(world_rank);
  return state == State::Gone || state == State::Stopped;
}

bool is_elsewhere(int world_rank) {
  return state_of(world_rank) == State::Elsewhere;
}

template <typename Predicate>
std::vector<int> those(const std::vector<int>& ranks, const Predicate& predicate) {
  std::vector<int> chosen;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(chosen), predicate);
  return chosen;
}

}  // namespace

std::string list_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text;
}

Diagnosis diagnose(const std::vector<int>& awaited) {
  Diagnosis diagnosis;
  const std::vector<int> causes = likely_causes(awaited);
  if (!causes.empty()) diagnosis.peer = causes.front();
  const Absence unwell = Presence::get().explain_unwell();
  if (!unwell.text.empty()) diagnosis.text += "; " + unwell.text;
  const std::vector<int> elsewhere = those(awaited, is_elsewhere);
  if (!elsewhere.empty()) {
    diagnosis.text += "; " + list_ranks(elsewhere) +
                      (elsewhere.size() == 1 ? " is on another host" : " are on other hosts");
  }
  return diagnosis;
}

std::vector<int> likely_causes(const std::vector<int>& ranks) {
  std::vector<int> unwell = those(ranks, is_unwell);
  if (!unwell.empty()) return unwell;
  std::vector<int> elsewhere = those(ranks, is_elsewhere);
  return elsewhere.empty() ? ranks : elsewhere;
}

int LivenessCheck::find_ended(const std::vector<int>& awaited, std::chrono::nanoseconds waited) {
  if (!is_due(waited)) return -1;
  next_ = waited + between_looks;
  const auto ended = [](int rank) { return state_of(rank) == State::Gone; };
  const auto found = std::find_if(awaited.begin(), awaited.end(), ended);
  return found == awaited.end() ? -1 : *found;
}

}  // namespace foldstep::cpu
