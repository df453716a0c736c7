#include "cuda/window/window_meeting.hpp"

#include <sstream>
#include <string>
#include <utility>

namespace foldstep::cuda {

WindowMeeting::WindowMeeting(std::shared_ptr<CudaWindow> window, const std::vector<int>& members, int self,
                             const Descriptor& mine)
    : window_(std::move(window)), mine_(mine) {
  for (const int place : members) ranks_.push_back(window_->world_ranks()[static_cast<std::size_t>(place)]);
  self_rank_ = rank_of(self);
}

int WindowMeeting::rank_of(int member) const {
  return member >= 0 && member < static_cast<int>(ranks_.size()) ? ranks_[static_cast<std::size_t>(member)]
                                                                 : -1;
}

int WindowMeeting::about(const Abort& abort, int otherwise) const {
  const std::vector<int>& ranks = window_->world_ranks();
  if (abort.peer < 0 || abort.peer >= static_cast<int>(ranks.size())) return otherwise;
  return ranks[static_cast<std::size_t>(abort.peer)];
}

std::exception_ptr WindowMeeting::fail(const Status& status) {
  return std::make_exception_ptr(window_->fail(error_of(status)));
}

void WindowMeeting::cancel() {
  window_->cancel(aborted());
}

Error WindowMeeting::aborted() const {
  return Error(Code::Aborted,
               "rank " + std::to_string(self_rank_) + " closed its stream during " + mine_.text(), self_rank_,
               self_rank_);
}

Error WindowMeeting::error_of(const Status& status) const {
  const int peer = rank_of(status.member);
  std::ostringstream text;
  switch (status.reason) {
    case Status::Late:
      text << "rank " << self_rank_ << " waited in vain for rank " << peer << " in " << mine_.text()
           << "; see what that rank does, or give it longer with a larger deadline";
      return Error(Code::DeadlineExceeded, text.str(), self_rank_, peer);
    case Status::Mismatch:
      text << "ranks of one team are about to do different things: rank " << self_rank_ << ' ' << mine_.text()
           << "; rank " << peer << ' ' << status.theirs.text()
           << "; every member must make the same calls in the same order";
      return Error(Code::OperationMismatch, text.str(), self_rank_, peer);
    case Status::PeerAborted: {
      auto code = static_cast<Code>(status.abort.reason - 1);
      // A rank whose stream was closed in mid-turn has left.
      if (code == Code::Aborted) code = Code::PeerExited;
      text << "rank " << peer << (code == Code::PeerExited ? " has gone" : " has failed") << " while rank "
           << self_rank_ << " waited for it in " << mine_.text();
      if (code != Code::PeerExited) text << "; its error, " << name_of(code) << ", says why";
      return Error(code, text.str(), self_rank_, about(status.abort, peer));
    }
    default:
      return aborted();
  }
}

}  // namespace foldstep::cuda
