#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fold/paths.hpp"

namespace foldstep::fold {

namespace {

/// Results that their owner sends from their place in its memory to the same place in others'.
struct Spread {
  std::byte* base;     ///< address of element `origin`
  std::size_t origin;  ///< of the flat layout
  std::size_t width;   ///< bytes per element
  bool to_all;         ///< or to the replicas of the owner's shard alone
};

/// The parts that members own, chunk by chunk: elements are sent to their owner, summed there, and the
/// results spread. With two buffers the next chunk's elements travel while one is summed. With one they
/// travel together with the results of the chunk before.
class Exchange {
 public:
  /// Sums a range that this rank owns from the elements of every member, in order.
  using Sum = std::function<void(Range, std::vector<Place>)>;

  /// `memory` owns what the request names.
  Exchange(const Pass& pass, std::byte* data, DType type, std::shared_ptr<const void> memory)
      : pass_(pass),
        data_(data),
        width_(size_of(type)),
        peers_(static_cast<std::size_t>(pass.size() - 1)),
        buffers_(pass.operations.message_limits().receive_buffers) {
    std::size_t longest = 0;
    for (int m = 0; m < pass.size(); ++m) longest = std::max(longest, pass.layout.owned(m).size());
    if (longest == 0) return;
    const std::size_t most = pass.operations.message_limits().receive_bytes;
    const std::size_t fitting = std::max<std::size_t>(most / (peers_ * width_), 1);
    chunk_ = std::min(longest, fitting < 64 ? fitting : fitting / 64 * 64);
    chunks_ = (longest + chunk_ - 1) / chunk_;
    received_ = pass.operations.temporary(peers_ * chunk_ * width_ * std::min(chunks_, buffers_));
    using Owners = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
    owners_ = std::make_shared<Owners>(std::move(memory), received_.owner);
  }

  void run(const Sum& sum, const std::vector<Spread>& spreads) const {
    if (chunks_ == 0) return;
    std::unique_ptr<MessageBatch> incoming = fetch(0);
    std::unique_ptr<MessageBatch> outgoing;
    for (std::size_t k = 0; k < chunks_; ++k) {
      const bool more = k + 1 < chunks_;
      std::unique_ptr<MessageBatch> next = more && buffers_ > 1 ? fetch(k + 1) : nullptr;
      incoming->finish();
      const Range range = chunk_of(pass_.self, k);
      if (range.size() > 0) sum(range, sources(k));
      if (outgoing) outgoing->finish();
      outgoing = spread(k, spreads);
      incoming = more && buffers_ == 1 ? fetch(k + 1) : std::move(next);
    }
    outgoing->finish();
  }

 private:
  Range chunk_of(int member, std::size_t k) const { return pass_.layout.owned(member).chunk(k, chunk_); }

  std::byte* received_from(int member, std::size_t k) const {
    const auto slot = static_cast<std::size_t>(member < pass_.self ? member : member - 1);
    return received_.data + ((k % buffers_) * peers_ + slot) * chunk_ * width_;
  }

  std::unique_ptr<MessageBatch> fetch(std::size_t k) const {
    auto messages = pass_.operations.messages(owners_);
    const std::size_t mine = chunk_of(pass_.self, k).size() * width_;
    for (int m = 0; m < pass_.size(); ++m) {
      if (m != pass_.self) messages->receive(m, received_from(m, k), mine);
    }
    for (int m = 0; m < pass_.size(); ++m) {
      const Range theirs = chunk_of(m, k);
      if (m != pass_.self) messages->send(m, data_ + theirs.begin * width_, theirs.size() * width_);
    }
    return messages;
  }

  std::vector<Place> sources(std::size_t k) const {
    std::vector<Place> places;
    for (int m = 0; m < pass_.size(); ++m) {
      places.push_back({m == pass_.self ? data_ + chunk_of(m, k).begin * width_ : received_from(m, k)});
    }
    return places;
  }

  std::unique_ptr<MessageBatch> spread(std::size_t k, const std::vector<Spread>& spreads) const {
    auto messages = pass_.operations.messages(owners_);
    const int replica = pass_.layout.first_replica(pass_.self);
    const Range mine = chunk_of(pass_.self, k);
    for (const Spread& what : spreads) {
      // An empty range may lie before the origin.
      const auto address = [&](const Range& range) {
        return range.size() == 0 ? what.base : what.base + (range.begin - what.origin) * what.width;
      };
      const int first = what.to_all ? 0 : replica;
      const int last = what.to_all ? pass_.size() : replica + pass_.layout.geometry().replicas;
      for (int m = first; m < last; ++m) {
        if (m == pass_.self) continue;
        const Range theirs = chunk_of(m, k);
        messages->receive(m, address(theirs), theirs.size() * what.width);
        messages->send(m, address(mine), mine.size() * what.width);
      }
    }
    return messages;
  }

  const Pass& pass_;
  std::byte* data_;  // element 0 of the flat layout
  std::size_t width_;
  std::size_t peers_;
  std::size_t buffers_;
  std::size_t chunk_ = 0;  // elements of one member's part
  std::size_t chunks_ = 0;
  Temporary received_;
  std::shared_ptr<const void> owners_;
};

}  // namespace

void exchange_accumulate(const Pass& pass, const AccumulateRequest& request) {
  auto* const gradient = request.gradient.as<std::byte>();
  const std::size_t width = size_of(request.gradient_type);
  using Memories = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  const Exchange exchange(pass, gradient, request.gradient_type,
                          std::make_shared<Memories>(request.gradient.memory, request.accumulator.memory));

  const std::size_t origin = request.sharded ? pass.layout.shard_origin(pass.self) : 0;
  std::vector<Spread> spreads{{request.accumulator.as<std::byte>(), origin, sizeof(float), false}};
  if (request.mirror) spreads.push_back({gradient, 0, width, true});

  exchange.run(
      [&](Range range, std::vector<Place> sources) {
        SumIntoAccumulators sum = sum_of(request, range.size());
        sum.sources = std::move(sources);
        sum.accumulators = {own_accumulator(pass, request, range.begin)};
        if (request.mirror) sum.mirrors = {place_of(request.gradient, range.begin, request.gradient_type)};
        pass.operations.sum_into_accumulators(sum);
      },
      spreads);
}

void exchange_reduce(const Pass& pass, const ReduceRequest& request) {
  auto* const data = request.data.as<std::byte>();
  const Exchange exchange(pass, data, request.type, request.data.memory);
  exchange.run(
      [&](Range range, std::vector<Place> sources) {
        SumIntoTargets sum = sum_of(request, range.size());
        sum.sources = std::move(sources);
        sum.targets = {place_of(request.data, range.begin, request.type)};
        pass.operations.sum_into_targets(sum);
      },
      {{data, 0, size_of(request.type), false}});
}

}  // namespace foldstep::fold
