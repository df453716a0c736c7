#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/fold/element_passes.hpp"
#include "cpu/fold/flight.hpp"
#include "cpu/fold/paths.hpp"
#include "cpu/fold/peers.hpp"

namespace foldstep::cpu {

namespace {

/// What the other members' elements are received into; there are two of them.
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// Results that their owner sends from their place in its memory to the same place in others'.
struct Spread {
  std::byte* base;     ///< address of element `origin`
  std::size_t origin;  ///< of the flat layout
  std::size_t width;   ///< bytes per element
  bool to_all;         ///< or to the replicas of the owner's shard alone
};

/// The parts that members own, chunk by chunk: elements are sent to their owner, summed there, and the
/// results spread. The next chunk's elements travel while one is summed.
class Exchange {
 public:
  using Sum = std::function<void(Range, const std::vector<const void*>&)>;

  Exchange(const Pass& pass, std::byte* data, DType type, std::shared_ptr<const void> buffers)
      : pass_(pass),
        data_(data),
        width_(size_of(type)),
        self_(pass.members.index()),
        user_buffers_(std::move(buffers)) {
    std::size_t longest = 0;
    for (int m = 0; m < pass.members.size(); ++m) longest = std::max(longest, pass.layout.owned(m).size());
    if (longest == 0) return;
    const auto peers = static_cast<std::size_t>(pass.members.size() - 1);
    const std::size_t fitting = std::max<std::size_t>(buffer_bytes / (peers * width_), 1);
    chunk_ = std::min(longest, fitting < 64 ? fitting : fitting / 64 * 64);
    chunks_ = (longest + chunk_ - 1) / chunk_;
    const std::size_t bytes = peers * chunk_ * width_ * std::min<std::size_t>(chunks_, 2);
    temporaries_ = Ledger::Entry(pass.context.ledger, bytes);
    received_ = pass.context.scratch.take(bytes);
  }

  /// `sum` is given a range that this rank owns and its elements of every member, in order.
  void run(const Sum& sum, const std::vector<Spread>& spreads) {
    std::optional<Flight> incoming;
    std::optional<Flight> outgoing;
    if (chunks_ > 0) incoming.emplace(fetch(0));
    for (std::size_t k = 0; k < chunks_; ++k) {
      std::optional<Flight> next;
      if (k + 1 < chunks_) next.emplace(fetch(k + 1));
      incoming->land(pass_.cancelled);
      const Range range = chunk_of(self_, k);
      if (range.size() > 0) sum(range, sources(k));
      if (outgoing) outgoing->land(pass_.cancelled);
      outgoing.emplace(spread(k, spreads));
      incoming.reset();
      if (next) incoming.emplace(std::move(*next));
    }
    if (outgoing) outgoing->land(pass_.cancelled);
  }

 private:
  Range chunk_of(int member, std::size_t k) const { return pass_.layout.owned(member).chunk(k, chunk_); }

  std::byte* received_from(int member, std::size_t k) const {
    const auto peers = static_cast<std::size_t>(pass_.members.size() - 1);
    const auto slot = static_cast<std::size_t>(member < self_ ? member : member - 1);
    return received_.get() + ((k % 2) * peers + slot) * chunk_ * width_;
  }

  Flight flight() const {
    using Buffers = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
    return Flight(pass_.members.communicator(), std::make_shared<Buffers>(user_buffers_, received_));
  }

  Flight fetch(std::size_t k) const {
    Flight result = flight();
    const std::size_t mine = chunk_of(self_, k).size() * width_;
    for (int m = 0; m < pass_.members.size(); ++m) {
      if (m != self_) result.receive(received_from(m, k), mine, m);
    }
    for (int m = 0; m < pass_.members.size(); ++m) {
      const Range theirs = chunk_of(m, k);
      if (m != self_) result.send(data_ + theirs.begin * width_, theirs.size() * width_, m);
    }
    return result;
  }

  std::vector<const void*> sources(std::size_t k) const {
    std::vector<const void*> result;
    for (int m = 0; m < pass_.members.size(); ++m) {
      result.push_back(m == self_ ? data_ + chunk_of(self_, k).begin * width_ : received_from(m, k));
    }
    return result;
  }

  Flight spread(std::size_t k, const std::vector<Spread>& spreads) const {
    Flight result = flight();
    const int replica = pass_.layout.first_replica(self_);
    const Range mine = chunk_of(self_, k);
    for (const Spread& what : spreads) {
      const int first = what.to_all ? 0 : replica;
      const int last = what.to_all ? pass_.members.size() : replica + pass_.layout.geometry().replicas;
      for (int m = first; m < last; ++m) {
        if (m == self_) continue;
        const Range theirs = chunk_of(m, k);
        if (theirs.size() > 0) {
          result.receive(what.base + (theirs.begin - what.origin) * what.width, theirs.size() * what.width,
                         m);
        }
        if (mine.size() > 0) {
          result.send(what.base + (mine.begin - what.origin) * what.width, mine.size() * what.width, m);
        }
      }
    }
    return result;
  }

  const Pass& pass_;
  std::byte* data_;  // element 0 of the flat layout
  std::size_t width_;
  int self_;
  std::size_t chunk_ = 0;  // elements of one member's part
  std::size_t chunks_ = 0;
  Ledger::Entry temporaries_;
  std::shared_ptr<const void> user_buffers_;
  std::shared_ptr<std::byte[]> received_;
};

}  // namespace

void exchange_accumulate(const Pass& pass, const Fold::Accumulate& request) {
  auto* const gradient = request.gradient.as<std::byte>();
  const std::size_t width = size_of(request.gradient_type);
  using Buffers = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  Exchange exchange(pass, gradient, request.gradient_type,
                    std::make_shared<Buffers>(request.gradient.memory, request.accumulator.memory));

  const std::size_t origin = request.sharded ? pass.layout.shard_origin(pass.members.index()) : 0;
  std::vector<Spread> spreads{{request.accumulator.as<std::byte>(), origin, sizeof(float), false}};
  if (request.mirror) spreads.push_back({gradient, 0, width, true});

  exchange.run(
      [&](Range range, const std::vector<const void*>& sources) {
        float* const accumulator = own_accumulator(pass, request, range.begin);
        void* const mirror = gradient + range.begin * width;
        run(pass.context, AccumulateSlice{.sources = sources.data(),
                                          .source_count = sources.size(),
                                          .type = request.gradient_type,
                                          .accumulation = request.accumulation,
                                          .scale = request.scale,
                                          .accumulators = &accumulator,
                                          .accumulator_count = 1,
                                          .mirrors = &mirror,
                                          .mirror_count = request.mirror ? std::size_t{1} : 0,
                                          .n = range.size()});
      },
      spreads);
}

void exchange_reduce(const Pass& pass, const Fold::Reduce& request) {
  auto* const data = request.data.as<std::byte>();
  const std::size_t width = size_of(request.type);
  Exchange exchange(pass, data, request.type, request.data.memory);
  exchange.run(
      [&](Range range, const std::vector<const void*>& sources) {
        void* const target = data + range.begin * width;
        run(pass.context, ReduceSlice{.sources = sources.data(),
                                      .source_count = sources.size(),
                                      .type = request.type,
                                      .scale = request.scale,
                                      .targets = &target,
                                      .target_count = 1,
                                      .n = range.size()});
      },
      {{data, 0, width, false}});
}

}  // namespace foldstep::cpu
