#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "cuda/errors.hpp"
#include "cuda/window/cuda_window.hpp"

namespace foldstep::cuda {

namespace {

/// How one step of the creation went on one member. Plain bytes.
struct Report {
  static constexpr std::int32_t success = -1;
  std::int32_t code = success;
  std::array<char, 508> text{};
  PeerSlab::Address address{};
};

template <typename Step>
Report report_of(const Step& step) {
  Report report;
  try {
    step(report);
  } catch (const Error& error) {
    const std::string text = error.what();
    report.code = static_cast<std::int32_t>(error.code());
    std::copy_n(text.begin(), std::min(text.size(), report.text.size() - 1), report.text.begin());
  }
  return report;
}

/// An error that every member throws: the communicator stays usable.
struct Agreed {
  Error error;
};

/// Every member's report. Throws the first failure that is in them as Agreed.
std::vector<Report> exchange(Lane& lane, CudaCommunicator& communicator, const Report& mine) {
  const auto members = static_cast<std::size_t>(communicator.size());
  std::vector<Report> all(members);
  Backend& host = *lane.context().host;
  const Span source{host.allocate(sizeof(Report)), 0};
  const Span target{host.allocate(members * sizeof(Report)), 0};
  source.memory->write(0, &mine, sizeof mine);
  lane.run_on_host([&](Stream& stream) {
    communicator.host().all_gather(stream, source, target, sizeof(Report), DType::U8);
  });
  target.memory->read(0, all.data(), members * sizeof(Report));
  for (std::size_t i = 0; i < members; ++i) {
    if (all[i].code == Report::success) continue;
    const int rank = communicator.world_ranks()[i];
    throw Agreed{Error(static_cast<Code>(all[i].code),
                       "rank " + std::to_string(rank) + ": " + all[i].text.data(), communicator.world_rank(),
                       rank)};
  }
  return all;
}

/// What `from` writes into the pad of `to`, to prove that it can. Never 0.
std::uint32_t proof(int from, int to) {
  return 0x5eed'0000U + static_cast<std::uint32_t>(from * max_members + to) + 1;
}

/// Of every pair: a kernel of the one has written into the memory of the other, which finds it there, and so
/// does a kernel of the one that reads it back.
class Probe {
 public:
  Probe(Lane& lane, const CudaCommunicator& communicator, const std::vector<std::shared_ptr<PeerSlab>>& slabs)
      : lane_(lane),
        communicator_(communicator),
        slabs_(slabs),
        self_(communicator.rank()),
        words_(DeviceMemory::allocate(lane.shared_context(), slabs.size() * sizeof(std::uint32_t))) {}

  void write() {
    std::vector<std::uint32_t> proofs(slabs_.size());
    for (int m = 0; m < count(); ++m) proofs[static_cast<std::size_t>(m)] = proof(self_, m);
    words_->write(0, proofs.data(), proofs.size() * sizeof(std::uint32_t));
    for (int m = 0; m < count(); ++m) {
      copy(lane_.launch(), {word(m)}, &pad_of(m)->probe[self_], sizeof(std::uint32_t));
    }
    lane_.finish();
  }

  void verify() {
    std::vector<std::uint32_t> found(slabs_.size());
    lane_.context().courier.copy(found.data(), pad_of(self_)->probe, found.size() * sizeof(std::uint32_t));
    for (int m = 0; m < count(); ++m)
      require(found[static_cast<std::size_t>(m)] == proof(m, self_), m, "written by");
    for (int m = 0; m < count(); ++m) {
      copy(lane_.launch(), {reinterpret_cast<std::byte*>(&pad_of(m)->probe[self_])}, word(m),
           sizeof(std::uint32_t));
    }
    lane_.finish();
    words_->read(0, found.data(), found.size() * sizeof(std::uint32_t));
    for (int m = 0; m < count(); ++m)
      require(found[static_cast<std::size_t>(m)] == proof(self_, m), m, "read from");
  }

 private:
  int count() const { return static_cast<int>(slabs_.size()); }
  SignalPad* pad_of(int member) const { return slabs_[static_cast<std::size_t>(member)]->pad(); }
  std::byte* word(int member) const {
    return words_->data() + static_cast<std::size_t>(member) * sizeof(std::uint32_t);
  }

  void require(bool right, int member, const char* how) const {
    if (right) return;
    throw Error(
        Code::PathUnavailable,
        std::string("what was ") + how + " rank " +
            std::to_string(communicator_.world_ranks()[static_cast<std::size_t>(member)]) +
            " through mapped memory is not what it should be; the paths exchange and library need no shared "
            "memory");
  }

  Lane& lane_;
  const CudaCommunicator& communicator_;
  const std::vector<std::shared_ptr<PeerSlab>>& slabs_;
  int self_;
  std::shared_ptr<DeviceMemory> words_;
};

}  // namespace

std::shared_ptr<CudaWindow> CudaWindow::create(Lane& lane, CudaCommunicator& communicator,
                                               std::size_t bytes) {
  const std::shared_ptr<Context>& context = lane.shared_context();
  const std::vector<int>& ranks = communicator.world_ranks();
  const auto self = static_cast<std::size_t>(communicator.rank());
  if (ranks.size() > max_members) {
    throw Error(Code::PathUnavailable, "a window has at most " + std::to_string(max_members) +
                                           " ranks, not " + std::to_string(ranks.size()));
  }
  if (bytes > std::numeric_limits<std::int64_t>::max() - PeerSlab::header_bytes) {
    throw Error(Code::InvalidLength, "a window of " + std::to_string(bytes) + " bytes cannot be mapped");
  }
  std::vector<std::shared_ptr<PeerSlab>> slabs(ranks.size());
  const auto finished = [&] {
    return std::make_shared<CudaWindow>(context, slabs, ranks, communicator.rank(), bytes);
  };
  if (ranks.size() == 1) {
    slabs[0] = PeerSlab::create(context, bytes);
    return finished();
  }

  const auto build = [&] {
    const std::vector<Report> made = exchange(lane, communicator, report_of([&](Report& report) {
                                                slabs[self] = PeerSlab::create(context, bytes);
                                                report.address = slabs[self]->address();
                                              }));
    exchange(lane, communicator, report_of([&](Report&) {
               for (std::size_t i = 0; i < slabs.size(); ++i) {
                 if (i != self) slabs[i] = PeerSlab::open(context, made[i].address);
               }
             }));
    // Each exchange ends when every member has come: what all have written, all can verify.
    std::optional<Probe> probe;
    exchange(lane, communicator, report_of([&](Report&) {
               probe.emplace(lane, communicator, slabs);
               probe->write();
             }));
    exchange(lane, communicator, report_of([&](Report&) { probe->verify(); }));
    return finished();
  };
  std::shared_ptr<CudaWindow> window;
  std::optional<Error> refused;
  communicator.operate(lane, announce("create-window", bytes), [&] {
    try {
      window = build();
    } catch (const Agreed& agreed) {
      refused = agreed.error;
    }
  });
  if (refused) throw Error(*refused);
  return window;
}

}  // namespace foldstep::cuda
