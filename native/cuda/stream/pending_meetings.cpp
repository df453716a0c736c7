#include "cuda/stream/pending_meetings.hpp"

#include <utility>

#include "runtime/error.hpp"

namespace foldstep::cuda {

std::uint32_t PendingMeetings::add(std::shared_ptr<DeviceMeeting> meeting) {
  const std::lock_guard lock(mutex_);
  // 0 is of a failure that the host knows of.
  if (++ticket_ == 0) ++ticket_;
  meetings_[ticket_] = std::move(meeting);
  return ticket_;
}

std::exception_ptr PendingMeetings::error_of(const Status& status) {
  std::shared_ptr<DeviceMeeting> meeting;
  {
    const std::lock_guard lock(mutex_);
    const auto found = meetings_.find(status.ticket);
    if (found != meetings_.end()) meeting = found->second;
  }
  if (meeting) return meeting->fail(status);
  return std::make_exception_ptr(
      Error(Code::Aborted, "an operation before this one has failed, and its error has been reported"));
}

void PendingMeetings::forget(std::uint32_t last) {
  std::map<std::uint32_t, std::shared_ptr<DeviceMeeting>> past;
  const std::lock_guard lock(mutex_);
  const auto end = meetings_.upper_bound(last);
  while (meetings_.begin() != end) past.insert(meetings_.extract(meetings_.begin()));
}

void PendingMeetings::cancel() {
  std::map<std::uint32_t, std::shared_ptr<DeviceMeeting>> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting = meetings_;
  }
  for (const auto& [ticket, meeting] : waiting) meeting->cancel();
}

}  // namespace foldstep::cuda
