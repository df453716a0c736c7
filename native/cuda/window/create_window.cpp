#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/comm/nccl.hpp"
#include "cuda/window/agreement.hpp"
#include "cuda/window/cuda_window.hpp"
#include "cuda/window/probe.hpp"

namespace foldstep::cuda {

namespace {

using Slabs = std::vector<std::shared_ptr<PeerSlab>>;

/// Brings the members' slabs into each other's reach. Whatever fails on one is thrown by all, as Agreed.
class Builder {
 public:
  Builder(StreamWorker& worker, CudaCommunicator& communicator, std::size_t bytes)
      : worker_(worker), communicator_(communicator), bytes_(bytes) {}

  /// Over CUDA IPC, or else over NCCL.
  Slabs build() const {
    try {
      return over_ipc();
    } catch (const Agreed& refused) {
      if (refused.error.code() != Code::PathUnavailable || !over_nccl_is_possible()) throw;
      return over_nccl_after(refused.error);
    }
  }

 private:
  std::vector<Report> gather(const Report& mine) const { return cuda::gather(worker_, communicator_, mine); }
  std::vector<Report> exchange(const Report& mine) const {
    return cuda::exchange(worker_, communicator_, mine);
  }

  Slabs over_ipc() const {
    const std::shared_ptr<Context>& context = worker_.shared_context();
    Slabs slabs(members());
    const std::shared_ptr<PeerSlab>& own = slabs[self()];
    // Others map it as soon as they know of it, also if this rank then fails to hear from them.
    const std::vector<Report> made = gather(report_of<Report>([&](Report& report) {
      slabs[self()] = PeerSlab::create(context, bytes_);
      own->lend(others());
      report.address = own->address();
    }));
    // Nobody has mapped it yet, nor will if one has failed.
    if (own) own->lend(0);
    agree(communicator_, made);
    own->lend(others());
    const std::vector<Report> mapped = gather(report_of<Report>([&](Report& report) {
      for (std::size_t i = 0; i < members(); ++i) {
        if (i == self()) continue;
        slabs[i] = PeerSlab::open(context, made[i].address, communicator_.rank());
        report.mapped |= place(i);
      }
    }));
    own->lend(importers_in(mapped));
    agree(communicator_, mapped);
    prove(slabs);
    return slabs;
  }

  bool over_nccl_is_possible() const { return std::string_view(communicator_.carrier()) == "nccl"; }

  Slabs over_nccl_after(const Error& refused) const {
    try {
      return over_nccl();
    } catch (const Agreed& again) {
      if (again.error.code() != Code::PathUnavailable) throw;
      throw Agreed{Error(Code::PathUnavailable,
                         std::string(refused.what()) + "; nor over NCCL: " + again.error.what(),
                         refused.rank(), refused.peer())};
    }
  }

  Slabs over_nccl() const {
    const std::shared_ptr<Context>& context = worker_.shared_context();
    std::shared_ptr<SymmetricMemory> memory;
    Slabs slabs(members());
    // Before others reach it.
    exchange(report_of<Report>([&](Report&) {
      memory = create_symmetric_memory(context, PeerSlab::header_bytes + bytes_);
      slabs[self()] = PeerSlab::create_in(*context, {memory, memory->data()});
    }));
    exchange(report_of<Report>([&](Report&) {
      const std::vector<std::byte*> places = memory->share(worker_, communicator_.host());
      for (std::size_t i = 0; i < members(); ++i) {
        // This rank's window maps the others' memory too.
        if (i != self()) slabs[i] = std::make_shared<PeerSlab>(std::shared_ptr<std::byte>(memory, places[i]));
      }
    }));
    prove(slabs);
    return slabs;
  }

  void prove(const Slabs& slabs) const {
    // Each exchange ends when every member has come: what all have written, all can verify.
    std::optional<Probe> probe;
    exchange(report_of<Report>([&](Report&) {
      probe.emplace(worker_, communicator_, slabs);
      probe->write();
    }));
    exchange(report_of<Report>([&](Report&) { probe->verify(); }));
  }

  std::size_t members() const { return communicator_.world_ranks().size(); }
  std::size_t self() const { return static_cast<std::size_t>(communicator_.rank()); }

  static Places place(std::size_t member) { return Places{1} << member; }
  Places others() const {
    Places places = 0;
    for (std::size_t i = 0; i < members(); ++i) {
      if (i != self()) places |= place(i);
    }
    return places;
  }
  Places importers_in(const std::vector<Report>& reports) const {
    Places places = 0;
    for (std::size_t i = 0; i < members(); ++i) {
      if ((reports[i].mapped & place(self())) != 0) places |= place(i);
    }
    return places;
  }

  StreamWorker& worker_;
  CudaCommunicator& communicator_;
  std::size_t bytes_;
};

Error with_advice(const Error& error) {
  if (error.code() != Code::PathUnavailable) return error;
  return Error(error.code(),
               std::string(error.what()) + "; the paths exchange and library need no shared memory",
               error.rank(), error.peer());
}

}  // namespace

std::shared_ptr<CudaWindow> CudaWindow::create(StreamWorker& worker, CudaCommunicator& communicator,
                                               std::size_t bytes) {
  const std::shared_ptr<Context>& context = worker.shared_context();
  const std::vector<int>& ranks = communicator.world_ranks();
  if (ranks.size() > max_members) {
    throw Error(Code::PathUnavailable, "a window has at most " + std::to_string(max_members) +
                                           " ranks, not " + std::to_string(ranks.size()));
  }
  if (bytes > std::numeric_limits<std::int64_t>::max() - PeerSlab::header_bytes) {
    throw Error(Code::InvalidLength, "a window of " + std::to_string(bytes) + " bytes cannot be mapped");
  }
  const auto window_of = [&](Slabs slabs) {
    return std::make_shared<CudaWindow>(context, std::move(slabs), ranks, communicator.rank(), bytes);
  };
  if (ranks.size() == 1) return window_of({PeerSlab::create(context, bytes)});

  Slabs slabs;
  std::optional<Error> refused;
  communicator.operate(worker, announce("create-window", bytes), [&] {
    try {
      slabs = Builder(worker, communicator, bytes).build();
    } catch (const Agreed& agreed) {
      refused = with_advice(agreed.error);
    }
  });
  if (refused) throw Error(*refused);
  return window_of(std::move(slabs));
}

}  // namespace foldstep::cuda
