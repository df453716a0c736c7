#include "cuda/window/cuda_window.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "cuda/stream/closing_lock.hpp"
#include "cuda/window/window_meeting.hpp"
#include "cuda/window/window_registry.hpp"

namespace foldstep::cuda {

/// One operation of a group of ranks, from the moment that all are about to do the same. It only enqueues:
/// what members tell each other is known on the device alone.
class CudaWindow::Turn final : public Peers {
 public:
  Turn(CudaWindow& window, StreamWorker& worker, int channel, const std::vector<int>& members,
       const Descriptor& mine);

  Place data_of(int member, Range bytes) const override;
  Place accumulator_of(int member, Range bytes) const override;
  void barrier() override { meet(false); }
  void meet(bool announces);

 private:
  Place place_of(int member, std::size_t bytes, std::uint64_t Descriptor::*offset) const;

  CudaWindow& window_;
  StreamWorker& worker_;
  int channel_;
  const std::vector<int>& members_;
  Descriptor mine_;
  int self_ = 0;
  std::uint32_t ticket_ = 0;
};

CudaWindow::CudaWindow(std::shared_ptr<Context> context, std::vector<std::shared_ptr<PeerSlab>> slabs,
                       std::vector<int> world_ranks, int self, std::size_t bytes)
    : context_(std::move(context)),
      slabs_(std::move(slabs)),
      world_ranks_(std::move(world_ranks)),
      self_(self) {
  const std::shared_ptr<PeerSlab>& own = slabs_[static_cast<std::size_t>(self_)];
  slab_ = std::make_shared<DeviceMemory>(context_, own->data(), bytes, own);
  WindowRegistry::get().add(*this);
}

CudaWindow::~CudaWindow() {
  WindowRegistry::get().remove(*this);
  leave();
}

void CudaWindow::leave() {
  const std::lock_guard lock(failure_mutex_);
  if (failure_) return;
  const int rank = world_ranks_[static_cast<std::size_t>(self_)];
  failure_ = Error(Code::PeerExited, "rank " + std::to_string(rank) + " has given up the window", rank, rank);
  tell_peers(*failure_);
}

void CudaWindow::take_turn(StreamWorker& worker, int channel, const std::vector<int>& members,
                           Descriptor mine, const std::function<void(Peers&)>& body) {
  Channel& local = channels_[static_cast<std::size_t>(channel)];
  const auto lock = lock_unless_closing(local.mutex, worker);
  rethrow_failure();
  mine.sequence = ++local.sequence;
  try {
    worker.keep(shared_from_this());
    if (local.last) {
      local.last->hold_back(worker.stream());
    } else {
      local.last.emplace();
    }
    Turn turn(*this, worker, channel, members, mine);
    turn.meet(true);
    body(turn);
    local.last->record(worker.stream());
  } catch (const Error& error) {
    fail(error);
    throw;
  } catch (const std::exception& error) {
    fail(Error(Code::Internal, error.what()));
    throw;
  }
}

void CudaWindow::rethrow_failure() {
  const std::lock_guard lock(failure_mutex_);
  if (failure_) throw Error(*failure_);
}

Error CudaWindow::fail(const Error& error) {
  const std::lock_guard lock(failure_mutex_);
  if (failure_) return *failure_;
  failure_ = error;
  tell_peers(error);
  return error;
}

void CudaWindow::cancel(const Error& error) {
  fail(error);
  try {
    context_->use();
    const std::uint32_t cancelled = 1;
    SignalPad* const pad = slabs_[static_cast<std::size_t>(self_)]->pad();
    context_->side_stream.copy(&pad->cancelled, &cancelled, sizeof cancelled);
  } catch (const Error&) {
    // The device has failed: nothing waits any more.
  }
}

void CudaWindow::tell_peers(const Error& error) {
  // To its peers, a rank whose stream was closed in mid-turn has left.
  const bool left = error.code() == Code::Aborted;
  const Code code = left ? Code::PeerExited : error.code();
  const auto about = std::find(world_ranks_.begin(), world_ranks_.end(), error.peer());
  const bool known = !left && about != world_ranks_.end();
  const auto peer = known ? static_cast<int>(about - world_ranks_.begin()) : self_;
  const Abort abort{1 + static_cast<std::uint32_t>(code), peer};
  try {
    context_->use();
    for (std::size_t member = 0; member < slabs_.size(); ++member) {
      if (static_cast<int>(member) == self_) continue;
      Abort& told = slabs_[member]->pad()->aborts[self_];
      context_->side_stream.copy(&told.peer, &abort.peer, sizeof abort.peer);
      context_->side_stream.copy(&told.reason, &abort.reason, sizeof abort.reason);
    }
  } catch (const Error&) {
    // The device has failed: the peers find out at their deadline.
  }
}

CudaWindow::Turn::Turn(CudaWindow& window, StreamWorker& worker, int channel, const std::vector<int>& members,
                       const Descriptor& mine)
    : window_(window), worker_(worker), channel_(channel), members_(members), mine_(mine) {
  self_ = static_cast<int>(std::find(members.begin(), members.end(), window.self_) - members.begin());
  ticket_ =
      worker.meetings().add(std::make_shared<WindowMeeting>(window.shared_from_this(), members, self_, mine));
}

void CudaWindow::Turn::meet(bool announces) {
  Meeting meeting{};
  meeting.count = static_cast<int>(members_.size());
  meeting.self = self_;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    meeting.pads[m] = window_.slabs_[static_cast<std::size_t>(members_[m])]->pad();
    meeting.places[m] = static_cast<std::uint32_t>(members_[m]);
  }
  meeting.channel = static_cast<std::uint32_t>(channel_);
  meeting.epoch = ++window_.channels_[static_cast<std::size_t>(channel_)].epoch;
  meeting.announces = announces;
  meeting.mine = mine_;
  meeting.deadline_nanoseconds =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(window_.context_->deadline).count());
  meeting.ticket = ticket_;
  meeting.status = worker_.status();
  cuda::meet(worker_.launch(), meeting);
}

Place CudaWindow::Turn::data_of(int member, Range bytes) const {
  return place_of(member, bytes.begin, &Descriptor::data_offset);
}

Place CudaWindow::Turn::accumulator_of(int member, Range bytes) const {
  return place_of(member, bytes.begin, &Descriptor::accumulator_offset);
}

Place CudaWindow::Turn::place_of(int member, std::size_t bytes, std::uint64_t Descriptor::*offset) const {
  const auto place = static_cast<std::size_t>(members_[static_cast<std::size_t>(member)]);
  std::byte* const base = window_.slabs_[place]->data() + bytes;
  if (member == self_) return {base + mine_.*offset};
  // An address in device memory: it is computed, not read.
  const SignalPad* const pad = window_.slabs_[static_cast<std::size_t>(window_.self_)]->pad();
  return {base, &(pad->slots[channel_][place].descriptor.*offset)};
}

}  // namespace foldstep::cuda
