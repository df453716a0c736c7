#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/comm/cpu_communicator.hpp"

namespace foldstep::cpu {

/// Messages under way between the members of a communicator. Messages of a pair arrive in the order in which
/// both post them. What has not landed when a flight is given up stays in place, with its buffers, until the
/// process ends.
class Flight {
 public:
  /// `buffers` owns everything that is sent from and received into.
  Flight(std::shared_ptr<CpuCommunicator> communicator, std::shared_ptr<const void> buffers);
  ~Flight();
  Flight(Flight&&) noexcept = default;
  Flight& operator=(Flight&&) = delete;

  /// Nothing for no bytes: the other side knows the length too.
  void send(const void* data, std::size_t bytes, int to);
  void receive(void* data, std::size_t bytes, int from);
  /// Waits until all of it has been sent and received.
  void land(const Cancelled& cancelled);

 private:
  std::shared_ptr<CpuCommunicator> communicator_;
  std::shared_ptr<const void> buffers_;
  std::vector<Transport::Pending> pending_;
};

}  // namespace foldstep::cpu
