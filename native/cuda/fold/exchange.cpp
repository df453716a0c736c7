#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "cuda/fold/paths.hpp"
#include "cuda/fold/places.hpp"

namespace foldstep::cuda {

namespace {

/// What the other members' elements are received into. Where messages are copied on the way, all that is on
/// its way at once is up to nine times as much, and counts too.
constexpr std::size_t buffer_bytes = Lane::kept_bytes;
constexpr std::size_t staged_buffer_bytes = std::size_t{192} << 10;

/// Results that their owner sends from their place in its memory to the same place in others'.
struct Spread {
  std::byte* base;     ///< address of element `origin`
  std::size_t origin;  ///< of the flat layout
  std::size_t width;   ///< bytes per element
  bool to_all;         ///< or to the replicas of the owner's shard alone
};

/// The parts that members own, chunk by chunk: elements are sent to their owner, summed there, and the
/// results spread, together with the next chunk's elements. The stream's order lets every chunk use the same
/// buffer.
class Exchange {
 public:
  /// Issues the kernel over a range that this rank owns; `sources` are set with `set_sources`.
  using Sum = std::function<void(Range range, std::size_t k)>;

  Exchange(const Pass& pass, std::byte* data, DType type)
      : pass_(pass),
        transport_(pass.members.communicator().transport()),
        data_(data),
        width_(size_of(type)),
        self_(pass.members.index()) {
    std::size_t longest = 0;
    for (int m = 0; m < pass.members.size(); ++m) longest = std::max(longest, pass.layout.owned(m).size());
    if (longest == 0) return;
    const auto peers = static_cast<std::size_t>(pass.members.size() - 1);
    const std::size_t most = transport_.staged() ? staged_buffer_bytes : buffer_bytes;
    const std::size_t fitting = std::max<std::size_t>(most / (peers * width_), 1);
    chunk_ = std::min(longest, fitting < 64 ? fitting : fitting / 64 * 64);
    chunks_ = (longest + chunk_ - 1) / chunk_;
    received_ = pass.lane.take(peers * chunk_ * width_);
  }

  void run(const Sum& sum, const std::vector<Spread>& spreads) const {
    for (std::size_t k = 0; k <= chunks_ && chunks_ > 0; ++k) {
      std::vector<Transport::Message> out;
      std::vector<Transport::Message> in;
      if (k > 0) spread(k - 1, spreads, out, in);
      if (k < chunks_) fetch(k, out, in);
      transport_.exchange(pass_.lane, out, in);
      if (k == chunks_) return;
      const Range range = chunk_of(self_, k);
      if (range.size() > 0) sum(range, k);
    }
  }

  /// The k-th chunk's elements of every member, in order.
  template <typename Kernel>
  void set_sources(std::size_t k, Kernel& kernel) const {
    for (int m = 0; m < pass_.members.size(); ++m) {
      kernel.sources[m].base = m == self_ ? data_ + chunk_of(self_, k).begin * width_ : received_from(m);
    }
    kernel.source_count = pass_.members.size();
  }

 private:
  using Messages = std::vector<Transport::Message>;

  Range chunk_of(int member, std::size_t k) const { return pass_.layout.owned(member).chunk(k, chunk_); }

  std::byte* received_from(int member) const {
    const auto slot = static_cast<std::size_t>(member < self_ ? member : member - 1);
    return received_.data() + slot * chunk_ * width_;
  }

  void fetch(std::size_t k, Messages& out, Messages& in) const {
    const std::size_t mine = chunk_of(self_, k).size() * width_;
    for (int m = 0; m < pass_.members.size(); ++m) {
      if (m == self_) continue;
      const Range theirs = chunk_of(m, k);
      out.push_back({m, data_ + theirs.begin * width_, theirs.size() * width_});
      in.push_back({m, received_from(m), mine});
    }
  }

  void spread(std::size_t k, const std::vector<Spread>& spreads, Messages& out, Messages& in) const {
    const int replica = pass_.layout.first_replica(self_);
    const Range mine = chunk_of(self_, k);
    for (const Spread& what : spreads) {
      const auto message = [&](int peer, const Range& range) {
        // An empty range may lie before `origin`.
        if (range.size() == 0) return Transport::Message{peer, what.base, 0};
        return Transport::Message{peer, what.base + (range.begin - what.origin) * what.width,
                                  range.size() * what.width};
      };
      const int first = what.to_all ? 0 : replica;
      const int last = what.to_all ? pass_.members.size() : replica + pass_.layout.geometry().replicas;
      for (int m = first; m < last; ++m) {
        if (m == self_) continue;
        out.push_back(message(m, mine));
        in.push_back(message(m, chunk_of(m, k)));
      }
    }
  }

  const Pass& pass_;
  Transport& transport_;
  std::byte* data_;  // element 0 of the flat layout
  std::size_t width_;
  int self_;
  std::size_t chunk_ = 0;  // elements of one member's part
  std::size_t chunks_ = 0;
  Lane::Temporary received_;
};

}  // namespace

void exchange_accumulate(const Pass& pass, const Fold::Accumulate& request) {
  auto* const gradient = request.gradient.as<std::byte>();
  const std::size_t width = size_of(request.gradient_type);
  const Exchange exchange(pass, gradient, request.gradient_type);

  const std::size_t origin = request.sharded ? pass.layout.shard_origin(pass.members.index()) : 0;
  std::vector<Spread> spreads{{request.accumulator.as<std::byte>(), origin, sizeof(float), false}};
  if (request.mirror) spreads.push_back({gradient, 0, width, true});

  exchange.run(
      [&](Range range, std::size_t k) {
        AccumulatePass kernel = begin_pass(request, range.size());
        exchange.set_sources(k, kernel);
        kernel.accumulators[0].base = own_accumulator(pass, request, range.begin);
        kernel.accumulator_count = 1;
        kernel.mirrors[0].base = gradient + range.begin * width;
        kernel.mirror_count = request.mirror ? 1 : 0;
        accumulate(pass.lane.launch(), kernel);
      },
      spreads);
}

void exchange_reduce(const Pass& pass, const Fold::Reduce& request) {
  auto* const data = request.data.as<std::byte>();
  const std::size_t width = size_of(request.type);
  const Exchange exchange(pass, data, request.type);
  exchange.run(
      [&](Range range, std::size_t k) {
        ReducePass kernel = begin_pass(request.type, request.scale, range.size());
        exchange.set_sources(k, kernel);
        kernel.targets[0].base = data + range.begin * width;
        kernel.target_count = 1;
        reduce(pass.lane.launch(), kernel);
      },
      {{data, 0, width, false}});
}

}  // namespace foldstep::cuda
