#include "cpu/fold/cpu_operations.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "cpu/fold/message_batch.hpp"
#include "cpu/kernels/fp_mode.hpp"
#include "cpu/kernels/kernel_table.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {

namespace {

/// Size of each of the two buffers that an exchange receives into.
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// Fewer elements are not worth another thread.
constexpr std::size_t grain = 16384;

/// Element `first` of what begins at each place.
template <typename Pointer>
std::vector<Pointer> pointers_to(const std::vector<Place>& places, std::size_t first, std::size_t width) {
  std::vector<Pointer> pointers(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    pointers[i] = reinterpret_cast<Pointer>(places[i].base + first * width);
  }
  return pointers;
}

class WindowPeers final : public Peers {
 public:
  WindowPeers(const CpuWindow& window, const std::vector<int>& places, Signals::Turn& turn)
      : window_(window), places_(places), turn_(turn) {}

  Place data_of(int member, Range bytes) const override {
    return place_of(member, turn_.descriptor(static_cast<std::size_t>(member)).data_offset, bytes);
  }
  Place accumulator_of(int member, Range bytes) const override {
    return place_of(member, turn_.descriptor(static_cast<std::size_t>(member)).accumulator_offset, bytes);
  }
  void barrier() override { turn_.barrier(); }

 private:
  Place place_of(int member, std::size_t offset, Range bytes) const {
    if (offset > window_.bytes() || bytes.end > window_.bytes() - offset) {
      throw Error(Code::Internal, "a member announced an offset beyond its slab");
    }
    return {window_.data(places_[static_cast<std::size_t>(member)]) + offset + bytes.begin};
  }

  const CpuWindow& window_;
  const std::vector<int>& places_;
  Signals::Turn& turn_;
};

}  // namespace

CpuOperations::CpuOperations(Context& context, const FoldTeam& team, const Cancelled& cancelled)
    : context_(context),
      team_(team),
      cancelled_(cancelled),
      communicator_(std::static_pointer_cast<CpuCommunicator>(team.communicator)),
      window_(static_cast<CpuWindow*>(team.window.get())) {}

void CpuOperations::sum_into_accumulators(const SumIntoAccumulators& sum) {
  const std::size_t width = size_of(sum.type);
  context_.threads.parallel_for(sum.n, grain, [&](std::size_t begin, std::size_t end) {
    const FpMode mode;
    const auto sources = pointers_to<const void*>(sum.sources, begin, width);
    const auto mirrors = pointers_to<void*>(sum.mirrors, begin, width);
    const auto accumulators = pointers_to<float*>(sum.accumulators, begin, sizeof(float));
    kernel_table().accumulate({.sources = sources.data(),
                               .source_count = sources.size(),
                               .type = sum.type,
                               .accumulation = sum.accumulation,
                               .scale = sum.scale,
                               .accumulators = accumulators.data(),
                               .accumulator_count = accumulators.size(),
                               .mirrors = mirrors.data(),
                               .mirror_count = mirrors.size(),
                               .n = end - begin});
  });
}

void CpuOperations::sum_into_targets(const SumIntoTargets& sum) {
  const std::size_t width = size_of(sum.type);
  context_.threads.parallel_for(sum.n, grain, [&](std::size_t begin, std::size_t end) {
    const FpMode mode;
    const auto sources = pointers_to<const void*>(sum.sources, begin, width);
    const auto targets = pointers_to<void*>(sum.targets, begin, width);
    kernel_table().reduce({.sources = sources.data(),
                           .source_count = sources.size(),
                           .type = sum.type,
                           .scale = sum.scale,
                           .targets = targets.data(),
                           .target_count = targets.size(),
                           .n = end - begin});
  });
}

void CpuOperations::copy(Place source, std::byte* target, std::size_t bytes) {
  context_.threads.parallel_for(bytes, grain * sizeof(float), [&](std::size_t begin, std::size_t end) {
    std::memcpy(target + begin, source.base + begin, end - begin);
  });
}

void CpuOperations::cast(const std::byte* source, DType from, std::byte* target, std::size_t n) {
  context_.threads.parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
    const FpMode mode;
    if (from == DType::BF16) {
      kernel_table().bf16_to_f32(reinterpret_cast<const std::uint16_t*>(source) + begin,
                                 reinterpret_cast<float*>(target) + begin, end - begin);
    } else {
      kernel_table().f32_to_bf16(reinterpret_cast<const float*>(source) + begin,
                                 reinterpret_cast<std::uint16_t*>(target) + begin, end - begin);
    }
  });
}

void CpuOperations::meet_in_window(const Descriptor& mine, const std::function<void(Peers&)>& body) {
  window_->signals().take_turn(team_.channel, team_.places, mine, cancelled_, [&](Signals::Turn& turn) {
    WindowPeers peers(*window_, team_.places, turn);
    body(peers);
  });
}

void CpuOperations::meet_on_communicator(const Descriptor& mine, const std::function<void()>& body) {
  const auto run_met = [&] {
    communicator_->meet(announce(mine), cancelled_);
    body();
  };
  if (window_ == nullptr) return run_met();
  window_->signals().take_turn(team_.channel, team_.places, mine, cancelled_,
                               [&](Signals::Turn&) { run_met(); });
}

MessageLimits CpuOperations::message_limits() const {
  return {buffer_bytes, 2, std::numeric_limits<std::size_t>::max()};
}

std::unique_ptr<MessageBatch> CpuOperations::messages(std::shared_ptr<const void> buffers) {
  return std::make_unique<MpiBatch>(communicator_, std::move(buffers), cancelled_);
}

void CpuOperations::all_reduce(std::byte* values, std::size_t count, std::shared_ptr<const void> owner) {
  communicator_->wait(communicator_->transport().all_reduce(values, count, DType::F32, ReduceOp::Sum),
                      cancelled_, std::move(owner));
}

Temporary CpuOperations::temporary(std::size_t bytes) {
  struct Loan {
    Ledger::Entry entry;
    std::shared_ptr<std::byte[]> block;
  };
  auto loan =
      std::make_shared<Loan>(Loan{Ledger::Entry(context_.ledger, bytes), context_.scratch.take(bytes)});
  std::byte* const data = loan->block.get();
  return {data, std::move(loan)};
}

}  // namespace foldstep::cpu
