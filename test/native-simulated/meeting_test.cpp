// How ranks meet by signals in device memory: the kernel itself, three ranks in one process.
#include <chrono>
#include <thread>
#include <vector>

#include "cuda/kernels/kernels.hpp"
#include "runtime/error.hpp"
#include "support.hpp"

using namespace foldstep;
using namespace foldstep::cuda;
using namespace foldstep::test;

namespace {

constexpr std::uint32_t channel = 2;
/// Places in the window are not the members' indices.
constexpr int first_place = 3;
constexpr std::uint32_t ticket = 77;

template <typename T>
T* on_device(const T& value) {
  T* address = nullptr;
  must(cudaMalloc(&address, sizeof(T)));
  must(cudaMemcpy(address, &value, sizeof(T), cudaMemcpyHostToDevice));
  return address;
}

template <typename T>
T from_device(const T* address) {
  T value;
  must(cudaMemcpy(&value, address, sizeof(T), cudaMemcpyDeviceToHost));
  return value;
}

/// Ranks of one process, each with a pad, a status and a stream of its own.
class Crew {
 public:
  explicit Crew(int size) {
    for (int rank = 0; rank < size; ++rank) {
      pads_.push_back(on_device(SignalPad{}));
      status_.push_back(on_device(Status{}));
      streams_.push_back(new_stream());
    }
  }

  SignalPad* pad(int rank) const { return pads_[static_cast<std::size_t>(rank)]; }

  Meeting meeting(int rank, std::uint32_t epoch, bool announces, std::uint64_t milliseconds = 20'000) const {
    Meeting meeting{};
    meeting.count = static_cast<int>(pads_.size());
    for (int m = 0; m < meeting.count; ++m) {
      meeting.pads[m] = pad(m);
      meeting.places[m] = static_cast<std::uint32_t>(first_place + m);
    }
    meeting.self = rank;
    meeting.channel = channel;
    meeting.epoch = epoch;
    meeting.announces = announces;
    meeting.deadline_nanoseconds = milliseconds * 1'000'000;
    meeting.ticket = ticket;
    meeting.status = status_[static_cast<std::size_t>(rank)];
    meeting.mine.sequence = epoch;
    meeting.mine.end = 10;
    meeting.mine.data_offset = 1000U * static_cast<unsigned>(rank);
    return meeting;
  }

  void go(const Meeting& meeting) const {
    const auto rank = static_cast<std::size_t>(meeting.self);
    meet({streams_[rank], 2, status_[rank]}, meeting);
  }

  Status status_of(int rank) const {
    must(cudaStreamSynchronize(streams_[static_cast<std::size_t>(rank)]));
    return from_device(status_[static_cast<std::size_t>(rank)]);
  }

 private:
  std::vector<SignalPad*> pads_;
  std::vector<Status*> status_;
  std::vector<cudaStream_t> streams_;
};

std::uint32_t reason_of(Code code) {
  return 1 + static_cast<std::uint32_t>(code);
}

void meet_through_the_wrap() {
  constexpr std::uint32_t meetings = 40;
  const Crew crew(3);
  for (std::uint32_t i = 1; i <= meetings; ++i) {
    for (int rank = 0; rank < 3; ++rank) crew.go(crew.meeting(rank, first_epoch + i, i % 2 == 1));
  }
  for (int rank = 0; rank < 3; ++rank) CHECK(crew.status_of(rank).failed == 0);
  const SignalPad pad = from_device(crew.pad(1));
  CHECK(pad.slots[channel][first_place + 2].epoch == first_epoch + meetings);
  CHECK(pad.slots[channel][first_place + 2].descriptor.data_offset == 2000);
}

void differ() {
  const Crew crew(3);
  for (int rank = 0; rank < 3; ++rank) {
    Meeting meeting = crew.meeting(rank, first_epoch + 1, true);
    if (rank == 2) meeting.mine.end = 11;
    crew.go(meeting);
  }
  for (int rank = 0; rank < 3; ++rank) {
    const Status status = crew.status_of(rank);
    CHECK(status.failed == 1 && status.ticket == ticket);
    CHECK(status.reason == Status::Mismatch || status.reason == Status::PeerAborted);
    CHECK(status.abort.reason == reason_of(Code::OperationMismatch));
    if (status.reason != Status::Mismatch) continue;
    CHECK((rank == 2) != (status.member == 2));
    CHECK(status.theirs.end == (rank == 2 ? 10U : 11U));
  }
}

void wait_for_a_late_rank() {
  const Crew crew(3);
  crew.go(crew.meeting(0, first_epoch + 1, true, 300));
  crew.go(crew.meeting(1, first_epoch + 1, true));
  const Status first = crew.status_of(0);
  CHECK(first.failed == 1 && first.reason == Status::Late && first.member == 2);
  CHECK(first.abort.peer == first_place + 2);
  // The second would have waited longer; it is told, and whom it was about.
  const Status second = crew.status_of(1);
  CHECK(second.failed == 1 && second.reason == Status::PeerAborted && second.member == 0);
  CHECK(second.abort.peer == first_place + 2);
  CHECK(second.abort.reason == reason_of(Code::DeadlineExceeded));
  // So is the late one, when it comes.
  crew.go(crew.meeting(2, first_epoch + 1, true));
  CHECK(crew.status_of(2).reason == Status::PeerAborted);
}

/// The late one has come to the pass, but not to its end when the first gives up.
void come_late_to_the_end() {
  const Crew crew(2);
  for (int rank = 0; rank < 2; ++rank) crew.go(crew.meeting(rank, first_epoch + 1, true));
  crew.go(crew.meeting(0, first_epoch + 2, false, 300));
  CHECK(crew.status_of(0).reason == Status::Late);
  crew.go(crew.meeting(1, first_epoch + 2, false));
  const Status late = crew.status_of(1);
  CHECK(late.failed == 1 && late.reason == Status::PeerAborted);
}

void be_cancelled_while_waiting() {
  const Crew crew(2);
  crew.go(crew.meeting(0, first_epoch + 1, true));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::uint32_t cancelled = 1;
  must(cudaMemcpyAsync(&crew.pad(0)->cancelled, &cancelled, sizeof cancelled, cudaMemcpyHostToDevice,
                       new_stream()));
  CHECK(crew.status_of(0).reason == Status::Cancelled);
  crew.go(crew.meeting(1, first_epoch + 1, true));
  const Status other = crew.status_of(1);
  CHECK(other.reason == Status::PeerAborted && other.abort.reason == reason_of(Code::Aborted));
}

}  // namespace

int main() {
  Tests test;
  for (const char* how : {"seed=1", "seed=7,delay"}) {
    const auto under = [how](void (*body)()) { return [how, body] { pass(how, body); }; };
    const std::string with = std::string(" (") + how + ")";
    test("three ranks meet forty times, through the wrap of epochs" + with, under(meet_through_the_wrap));
    test("a rank that announces something else is found out by all" + with, under(differ));
    test("a late rank is named, to the others and to itself" + with, under(wait_for_a_late_rank));
    test("a rank late for the end of an operation does not succeed" + with, under(come_late_to_the_end));
    test("a rank that is cancelled leaves, and tells" + with, under(be_cancelled_while_waiting));
  }
  return test.finish();
}
