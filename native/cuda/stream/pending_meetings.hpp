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
  /// The number by which the status of a failed meeting names it. On the thread that issues.
  std::uint32_t add(std::shared_ptr<DeviceMeeting> meeting);
  std::uint32_t last_ticket() const { return ticket_; }
  /// What a status that says `failed` means.
  std::exception_ptr error_of(const Status& status);
  /// Lets go of those up to `last`: the stream has passed them.
  void forget(std::uint32_t last);
  /// Ends all that wait.
  void cancel();

 private:
  std::uint32_t ticket_ = 0;  // of the issuing thread
  std::mutex mutex_;          // of what follows
  std::map<std::uint32_t, std::shared_ptr<DeviceMeeting>> meetings_;
};

}  // namespace foldstep::cuda
