#include "cpu/fold/flight.hpp"

#include <utility>

#include "cpu/comm/abandoned.hpp"

namespace foldstep::cpu {

namespace {

constexpr int tag = 1;

/// Several requests as one.
class Batch final : public Request {
 public:
  explicit Batch(std::vector<Transport::Pending> requests) : requests_(std::move(requests)) {}
  bool test() override {
    std::erase_if(requests_, [](const Transport::Pending& request) { return request->test(); });
    return requests_.empty();
  }
  std::vector<int> awaited() override {
    std::vector<int> members;
    for (const Transport::Pending& request : requests_) {
      for (const int member : request->awaited()) members.push_back(member);
    }
    return members;
  }

 private:
  std::vector<Transport::Pending> requests_;
};

}  // namespace

Flight::Flight(std::shared_ptr<CpuCommunicator> communicator, std::shared_ptr<const void> buffers)
    : communicator_(std::move(communicator)), buffers_(std::move(buffers)) {}

Flight::~Flight() {
  if (pending_.empty()) return;
  struct Unfinished {
    std::shared_ptr<CpuCommunicator> communicator;
    std::shared_ptr<const void> buffers;
    std::vector<Transport::Pending> pending;
  };
  abandon(std::make_shared<Unfinished>(
      Unfinished{std::move(communicator_), std::move(buffers_), std::move(pending_)}));
}

void Flight::send(const void* data, std::size_t bytes, int to) {
  if (bytes > 0) pending_.push_back(communicator_->transport().send(data, bytes, to, tag));
}

void Flight::receive(void* data, std::size_t bytes, int from) {
  if (bytes > 0) pending_.push_back(communicator_->transport().receive(data, bytes, from, tag));
}

void Flight::land(const Cancelled& cancelled) {
  if (pending_.empty()) return;
  communicator_->wait(std::make_unique<Batch>(std::exchange(pending_, {})), cancelled, buffers_);
}

}  // namespace foldstep::cpu
