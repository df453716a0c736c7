#include "cpu/fold/message_batch.hpp"

#include <utility>

#include "cpu/comm/abandoned.hpp"

namespace foldstep::cpu {

namespace {

constexpr int tag = 1;

/// Several requests as one.
class Together final : public Request {
 public:
  explicit Together(std::vector<Transport::Pending> requests) : requests_(std::move(requests)) {}
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

MpiBatch::MpiBatch(std::shared_ptr<CpuCommunicator> communicator, std::shared_ptr<const void> buffers,
                   const Cancelled& cancelled)
    : communicator_(std::move(communicator)), buffers_(std::move(buffers)), cancelled_(cancelled) {}

MpiBatch::~MpiBatch() {
  if (pending_.empty()) return;
  struct Unfinished {
    std::shared_ptr<CpuCommunicator> communicator;
    std::shared_ptr<const void> buffers;
    std::vector<Transport::Pending> pending;
  };
  abandon(std::make_shared<Unfinished>(
      Unfinished{std::move(communicator_), std::move(buffers_), std::move(pending_)}));
}

void MpiBatch::receive(int from, std::byte* data, std::size_t bytes) {
  if (bytes > 0) pending_.push_back(communicator_->transport().receive(data, bytes, from, tag));
}

void MpiBatch::send(int to, const std::byte* data, std::size_t bytes) {
  if (bytes > 0) pending_.push_back(communicator_->transport().send(data, bytes, to, tag));
}

void MpiBatch::finish() {
  if (pending_.empty()) return;
  communicator_->wait(std::make_unique<Together>(std::exchange(pending_, {})), cancelled_, buffers_);
}

}  // namespace foldstep::cpu
