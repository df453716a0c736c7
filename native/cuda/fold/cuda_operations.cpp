#include "cuda/fold/cuda_operations.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace foldstep::cuda {

namespace {

// Size of the buffer that receives the other members' elements. A staged transport copies messages through
// pinned memory. The copies take up to nine times the size of this buffer, and the ledger counts them too.
constexpr std::size_t buffer_bytes = StreamWorker::kept_bytes;
constexpr std::size_t staged_buffer_bytes = std::size_t{192} << 10;

void set(const std::vector<Place>& places, Place* target, int& count) {
  std::copy(places.begin(), places.end(), target);
  count = static_cast<int>(places.size());
}

}  // namespace

/// `send` and `receive` only note a message. `finish` sends all noted messages together. So the results of
/// one chunk travel with the elements of the next.
class CudaOperations::NamedBatch final : public MessageBatch {
 public:
  explicit NamedBatch(CudaOperations& operations) : operations_(operations) {}
  void receive(int from, std::byte* data, std::size_t bytes) override {
    operations_.receives_.push_back({from, data, bytes});
  }
  void send(int to, const std::byte* data, std::size_t bytes) override {
    operations_.sends_.push_back({to, const_cast<std::byte*>(data), bytes});
  }
  void finish() override { operations_.issue_messages(); }

 private:
  CudaOperations& operations_;
};

CudaOperations::CudaOperations(StreamWorker& worker, const FoldTeam& team)
    : worker_(worker),
      team_(team),
      communicator_(static_cast<CudaCommunicator&>(*team.communicator)),
      window_(static_cast<CudaWindow*>(team.window.get())) {}

/// Members that read the same sources begin at different elements.
int CudaOperations::first_part(std::size_t sources) const {
  return static_cast<int>(sources) == team_.size() ? team_.self() : 0;
}

void CudaOperations::sum_into_accumulators(const SumIntoAccumulators& sum) {
  AccumulatePass pass;
  set(sum.sources, pass.sources, pass.source_count);
  set(sum.accumulators, pass.accumulators, pass.accumulator_count);
  set(sum.mirrors, pass.mirrors, pass.mirror_count);
  pass.type = sum.type;
  pass.accumulation = sum.accumulation;
  pass.scale = sum.scale;
  pass.n = sum.n;
  pass.self = first_part(sum.sources.size());
  accumulate(worker_.launch(), pass);
}

void CudaOperations::sum_into_targets(const SumIntoTargets& sum) {
  ReducePass pass;
  set(sum.sources, pass.sources, pass.source_count);
  set(sum.targets, pass.targets, pass.target_count);
  pass.type = sum.type;
  pass.scale = sum.scale;
  pass.n = sum.n;
  pass.self = first_part(sum.sources.size());
  reduce(worker_.launch(), pass);
}

void CudaOperations::copy(Place source, std::byte* target, std::size_t bytes) {
  cuda::copy(worker_.launch(), source, target, bytes);
}

void CudaOperations::cast(const std::byte* source, DType from, std::byte* target, std::size_t n) {
  if (from == DType::BF16) {
    cuda::cast(worker_.launch(), reinterpret_cast<const std::uint16_t*>(source),
               reinterpret_cast<float*>(target), n);
  } else {
    cuda::cast(worker_.launch(), reinterpret_cast<const float*>(source),
               reinterpret_cast<std::uint16_t*>(target), n);
  }
}

void CudaOperations::meet_in_window(const Descriptor& mine, const std::function<void(Peers&)>& body) {
  window_->take_turn(worker_, team_.channel, team_.places, mine, body);
}

void CudaOperations::meet_on_communicator(const Descriptor& mine, const std::function<void()>& body) {
  const auto run_met = [&] { communicator_.operate(worker_, announce(mine), body); };
  if (window_ == nullptr) return run_met();
  window_->take_turn(worker_, team_.channel, team_.places, mine, [&](Peers&) {
    // Only the device knows whether the meeting succeeded. Wait for it.
    worker_.finish();
    run_met();
  });
}

MessageLimits CudaOperations::message_limits() const {
  if (communicator_.transport().staged()) return {staged_buffer_bytes, 1, PinnedPool::kept_bytes};
  return {buffer_bytes, 1, std::numeric_limits<std::size_t>::max()};
}

std::unique_ptr<MessageBatch> CudaOperations::messages(std::shared_ptr<const void>) {
  return std::make_unique<NamedBatch>(*this);
}

void CudaOperations::issue_messages() {
  if (sends_.empty() && receives_.empty()) return;
  communicator_.transport().exchange(worker_, std::exchange(sends_, {}), std::exchange(receives_, {}));
}

void CudaOperations::all_reduce(std::byte* values, std::size_t count, std::shared_ptr<const void>) {
  communicator_.transport().all_reduce(worker_, values, count, DType::F32, ReduceOp::Sum);
}

Temporary CudaOperations::temporary(std::size_t bytes) {
  const auto taken = std::make_shared<StreamWorker::Temporary>(worker_.take(bytes));
  return {taken->data(), taken};
}

}  // namespace foldstep::cuda
