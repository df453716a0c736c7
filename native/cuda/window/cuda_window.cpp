#include "cuda/window/cuda_window.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "cuda/stream/patient_lock.hpp"
#include "cuda/window/departures.hpp"
#include "cuda/window/window_encounter.hpp"

namespace foldstep::cuda {

CudaWindow::CudaWindow(std::shared_ptr<Context> context, std::vector<std::shared_ptr<PeerSlab>> slabs,
                       std::vector<int> world_ranks, int self, std::size_t bytes)
    : context_(std::move(context)),
      slabs_(std::move(slabs)),
      world_ranks_(std::move(world_ranks)),
      self_(self) {
  const std::shared_ptr<PeerSlab>& own = slabs_[static_cast<std::size_t>(self_)];
  slab_ = std::make_shared<DeviceMemory>(context_, own->data(), bytes, own);
  Departures::get().add(*this);
}

CudaWindow::~CudaWindow() {
  Departures::get().remove(*this);
  leave();
}

void CudaWindow::leave() {
  const std::lock_guard lock(failure_mutex_);
  if (failure_) return;
  const int rank = world_ranks_[static_cast<std::size_t>(self_)];
  failure_ = Error(Code::PeerExited, "rank " + std::to_string(rank) + " has given up the window", rank, rank);
  tell_peers(*failure_);
}

void CudaWindow::take_turn(Lane& lane, int channel, const std::vector<int>& members, Descriptor mine,
                           const std::function<void(Turn&)>& body) {
  Channel& local = channels_[static_cast<std::size_t>(channel)];
  const auto lock = lock_patiently(local.mutex, lane);
  rethrow_failure();
  mine.sequence = ++local.sequence;
  try {
    lane.keep(shared_from_this());
    if (local.last) {
      local.last->hold_back(lane.stream());
    } else {
      local.last.emplace();
    }
    Turn turn(*this, lane, channel, members, mine);
    turn.meet(true);
    body(turn);
    local.last->record(lane.stream());
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
    context_->courier.copy(&pad->cancelled, &cancelled, sizeof cancelled);
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
      context_->courier.copy(&told.peer, &abort.peer, sizeof abort.peer);
      context_->courier.copy(&told.reason, &abort.reason, sizeof abort.reason);
    }
  } catch (const Error&) {
    // The device has failed: the peers find out at their deadline.
  }
}

CudaWindow::Turn::Turn(CudaWindow& window, Lane& lane, int channel, const std::vector<int>& members,
                       const Descriptor& mine)
    : window_(window), lane_(lane), channel_(channel), members_(members), mine_(mine) {
  self_ = static_cast<int>(std::find(members.begin(), members.end(), window.self_) - members.begin());
  ticket_ =
      lane.ticket_for(std::make_shared<WindowEncounter>(window.shared_from_this(), members, self_, mine));
}

void CudaWindow::Turn::barrier() {
  meet(false);
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
  meeting.status = lane_.status();
  cuda::meet(lane_.launch(), meeting);
}

Place CudaWindow::Turn::data_of(int member, std::size_t bytes) const {
  return place_of(member, bytes, &Descriptor::data_offset);
}

Place CudaWindow::Turn::accumulator_of(int member, std::size_t bytes) const {
  return place_of(member, bytes, &Descriptor::accumulator_offset);
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
