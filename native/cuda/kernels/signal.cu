#include "cuda/kernels/launch.cuh"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

constexpr int descriptor_words = sizeof(Descriptor) / sizeof(std::uint32_t);

FOLDSTEP_DEVICE std::uint32_t* words_of(Descriptor& descriptor) {
  return reinterpret_cast<std::uint32_t*>(&descriptor);
}

FOLDSTEP_DEVICE void tell(const Descriptor& mine, Descriptor& slot) {
  FOLDSTEP_UNROLL(descriptor_words)
  for (int w = 0; w < descriptor_words; ++w) {
    std::uint32_t word;
    __builtin_memcpy(&word, reinterpret_cast<const std::byte*>(&mine) + w * sizeof(word), sizeof(word));
    store_relaxed_system(words_of(slot) + w, word);
  }
}

FOLDSTEP_DEVICE Descriptor told(Descriptor& slot) {
  Descriptor descriptor;
  FOLDSTEP_UNROLL(descriptor_words)
  for (int w = 0; w < descriptor_words; ++w) {
    const std::uint32_t word = load_relaxed_system(words_of(slot) + w);
    __builtin_memcpy(reinterpret_cast<std::byte*>(&descriptor) + w * sizeof(word), &word, sizeof(word));
  }
  return descriptor;
}

/// How a wait has ended, and which member ended it.
struct Outcome {
  std::uint32_t reason;
  int member;
};

/// What this rank sees of the others, in its own pad.
struct View {
  const Meeting& meeting;

  FOLDSTEP_DEVICE SignalPad& pad() const { return *meeting.pads[meeting.self]; }
  FOLDSTEP_DEVICE SignalSlot& slot_of(int member) const {
    return pad().slots[meeting.channel][meeting.places[member]];
  }
  FOLDSTEP_DEVICE SignalSlot& own_slot_at(int member) const {
    return meeting.pads[member]->slots[meeting.channel][meeting.places[meeting.self]];
  }
  FOLDSTEP_DEVICE Abort& abort_of(int member) const { return pad().aborts[meeting.places[member]]; }
  /// Epochs wrap.
  FOLDSTEP_DEVICE bool has_come(int member) const {
    return static_cast<std::int32_t>(load_acquire_system(&slot_of(member).epoch) - meeting.epoch) >= 0;
  }
  FOLDSTEP_DEVICE bool has_aborted(int member) const {
    return load_acquire_system(&abort_of(member).reason) != 0;
  }
};

/// Waits for one member. While it does, it looks at one after the other of them all: whoever fails before it
/// has come, or takes back that it has, keeps everybody from going on.
FOLDSTEP_DEVICE Outcome wait_for(const View& view, int member) {
  const Meeting& meeting = view.meeting;
  const std::uint64_t start = nanoseconds();
  int looked_at = member;
  while (!view.has_come(member)) {
    // In this order: a member may come, and fail at what it does next.
    if (view.has_aborted(looked_at) && (meeting.announces || !view.has_come(looked_at))) {
      return {Status::PeerAborted, looked_at};
    }
    if (load_relaxed_system(&view.pad().cancelled) != 0) return {Status::Cancelled, meeting.self};
    if (nanoseconds() - start > meeting.deadline_nanoseconds) return {Status::Late, member};
    looked_at = looked_at + 1 < meeting.count ? looked_at + 1 : 0;
    pause();
  }
  return {Status::Fine, member};
}

/// Arrives at one member's pad, waits for it, and compares what both are about to do.
FOLDSTEP_DEVICE Outcome meet_member(const View& view, int member) {
  const Meeting& meeting = view.meeting;
  SignalSlot& slot = view.own_slot_at(member);
  if (meeting.announces) tell(meeting.mine, slot.descriptor);
  store_release_system(&slot.epoch, meeting.epoch);

  const Outcome outcome = wait_for(view, member);
  if (outcome.reason != Status::Fine || !meeting.announces) return outcome;
  if (!told(view.slot_of(member).descriptor).agrees_with(meeting.mine)) return {Status::Mismatch, member};
  // It may have come, waited for others in vain and given up: its data is its caller's again.
  if (view.has_aborted(member)) return {Status::PeerAborted, member};
  return outcome;
}

/// The first of the reasons that says most, of all members' outcomes.
FOLDSTEP_DEVICE Outcome worst(const Outcome* outcomes, int count) {
  constexpr std::uint32_t reasons[] = {Status::Mismatch, Status::PeerAborted, Status::Late,
                                       Status::Cancelled};
  for (const std::uint32_t reason : reasons) {
    for (int m = 0; m < count; ++m) {
      if (outcomes[m].reason == reason) return outcomes[m];
    }
  }
  return outcomes[0];
}

/// What peers are told of a failure.
FOLDSTEP_DEVICE Abort abort_for(const View& view, const Outcome& outcome) {
  const auto of = [](Code code) { return 1 + static_cast<std::uint32_t>(code); };
  const auto about = static_cast<std::int32_t>(view.meeting.places[outcome.member]);
  switch (outcome.reason) {
    case Status::Mismatch:
      return {of(Code::OperationMismatch), about};
    case Status::PeerAborted:
      return view.abort_of(outcome.member);
    case Status::Late:
      return {of(Code::DeadlineExceeded), about};
    default:
      return {of(Code::Aborted), about};
  }
}

/// Peers that wait for this rank will not wait for long. Those that have not yet seen it come will not: its
/// data is its caller's again, while they may still be reading it. A mismatch they are to find themselves.
FOLDSTEP_DEVICE void tell_abort(const View& view, int member, const Outcome& outcome, const Abort& mine) {
  const Meeting& meeting = view.meeting;
  if (outcome.reason != Status::Mismatch) {
    store_release_system(&view.own_slot_at(member).epoch, meeting.epoch - 1);
  }
  Abort& told = meeting.pads[member]->aborts[meeting.places[meeting.self]];
  store_relaxed_system(reinterpret_cast<std::uint32_t*>(&told.peer), static_cast<std::uint32_t>(mine.peer));
  store_release_system(&told.reason, mine.reason);
}

FOLDSTEP_DEVICE void write_status(const View& view, const Outcome& outcome, const Abort& mine) {
  Status& status = *view.meeting.status;
  status.reason = outcome.reason;
  status.member = outcome.member;
  status.ticket = view.meeting.ticket;
  status.abort = mine;
  status.theirs = told(view.slot_of(outcome.member).descriptor);
  store_release_system(&status.failed, 1);
}

/// One block, of which thread m meets member m.
FOLDSTEP_KERNEL(block_threads, resident_blocks)
meet_kernel(FOLDSTEP_PARAMETER Meeting meeting, const Status* status) {
  if (block_has_failed(status)) return;
  static_assert(max_members <= block_threads);
  FOLDSTEP_SHARED(Outcome, outcomes, max_members);
  FOLDSTEP_SHARED(bool, failed_before, 1);
  const View view{meeting};
  const auto member = static_cast<int>(thread_index());
  if (member == meeting.self) failed_before[0] = view.has_aborted(member);
  block_barrier();
  // A status is cleared before the host knows what it said. A rank that came again would be taken for one
  // that is through what it gave up.
  if (failed_before[0]) {
    if (member == meeting.self) {
      write_status(view, {Status::PeerAborted, member}, view.abort_of(member));
    }
    return;
  }
  if (member < meeting.count) outcomes[member] = meet_member(view, member);
  block_barrier();
  if (member >= meeting.count) return;

  const Outcome outcome = worst(outcomes, meeting.count);
  if (outcome.reason == Status::Fine) return;
  const Abort mine = abort_for(view, outcome);
  tell_abort(view, member, outcome, mine);
  if (member == meeting.self) write_status(view, outcome, mine);
}

}  // namespace

void meet(const Launch& launch, const Meeting& meeting) {
  start_or_throw("meet", meet_kernel, launch, 1, meeting);
}

}  // namespace foldstep::cuda
