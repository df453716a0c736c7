#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include "cuda/stream/device_meeting.hpp"

namespace foldstep::cuda {

/// The meetings of one stream that have been issued and not yet passed, by number. Thread-safe.
class PendingMeetings {
 public:
  /// Adds a meeting and returns its number. If the meeting fails, its status holds this number. Call it on
  /// the thread that issues.
  std::uint32_t add(std::shared_ptr<DeviceMeeting> meeting);
  std::uint32_t last_ticket() const { return ticket_; }
  /// Returns the error of a status whose `failed` is set.
  std::exception_ptr error_of(const Status& status);
  /// Lets go of those up to `last`: the stream has passed them.
  void forget(std::uint32_t last);
  /// Cancels all pending meetings.
  void cancel();

 private:
  std::uint32_t ticket_ = 0;  // used only by the issuing thread
  std::mutex mutex_;          // guards `meetings_`
  std::map<std::uint32_t, std::shared_ptr<DeviceMeeting>> meetings_;
};

}  // namespace foldstep::cuda
