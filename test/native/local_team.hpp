#pragma once

#include <future>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cpu/comm/cpu_communicator.hpp"
#include "cpu/cpu_backend.hpp"
#include "cpu/window/cpu_window.hpp"
#include "fold/prepare.hpp"

namespace foldstep::test {

/// A place in a team whose members meet in shared memory alone.
class WindowOnlyTransport final : public cpu::Transport {
 public:
  WindowOnlyTransport(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<int> world_ranks() const override {
    std::vector<int> ranks;
    for (int i = 0; i < size_; ++i) ranks.push_back(i);
    return ranks;
  }
  Pending send(const void*, std::size_t, int, int) override { throw no_messages(); }
  Pending receive(void*, std::size_t, int, int) override { throw no_messages(); }
  Pending all_reduce(void*, std::size_t, DType, ReduceOp) override { throw no_messages(); }
  Pending reduce_scatter(const void*, void*, std::size_t, DType, ReduceOp) override { throw no_messages(); }
  Pending all_gather(const void*, void*, std::size_t) override { throw no_messages(); }
  Pending broadcast(void*, std::size_t, int) override { throw no_messages(); }
  Pending all_to_all(const void*, const std::vector<std::size_t>&, const std::vector<std::size_t>&, void*,
                     const std::vector<std::size_t>&, const std::vector<std::size_t>&) override {
    throw no_messages();
  }
  Pending barrier() override { throw no_messages(); }
  Pending split(int, int, std::unique_ptr<Transport>&) override { throw no_messages(); }

 private:
  static std::logic_error no_messages() { return std::logic_error("this team passes no messages"); }

  int rank_;
  int size_;
};

/// One member with all that it needs.
struct Member {
  Member(int rank_, std::vector<std::shared_ptr<Memory>> blocks,
         const std::vector<cpu::ProcessIdentity>& processes, std::chrono::milliseconds deadline, bool spin)
      : rank(rank_),
        context(std::make_shared<cpu::Context>(deadline, spin, 1)),
        backend(context),
        team{std::make_shared<cpu::CpuCommunicator>(
                 std::make_shared<WindowOnlyTransport>(rank, static_cast<int>(blocks.size())), deadline),
             nullptr, 0} {
    const std::vector<int> ranks = team.communicator->world_ranks();
    team.window = std::make_shared<cpu::CpuWindow>(context, std::move(blocks), processes, ranks, rank);
  }

  /// FP32 gradients at the beginning of the slab, the accumulators right behind them.
  AccumulateRequest request(Path path, std::size_t n, bool mirror) const {
    AccumulateRequest result;
    result.path = path;
    result.gradient_type = DType::F32;
    result.mirror = mirror;
    result.geometry = {0, n, team.communicator->size(), n};
    result.gradient = {team.window->slab(), 0};
    result.accumulator = {team.window->slab(), n * sizeof(float)};
    return result;
  }

  void enqueue(const AccumulateRequest& request) {
    fold::prepare(backend, team, request)->enqueue(stream, {});
  }

  /// Waits for the stream; throws what an operation on it threw.
  void finish() {
    std::promise<std::exception_ptr> passed;
    stream.notify([&](std::exception_ptr error) { passed.set_value(error); });
    if (const std::exception_ptr error = passed.get_future().get()) std::rethrow_exception(error);
  }

  int rank;
  std::shared_ptr<cpu::Context> context;
  cpu::CpuBackend backend;
  Team team;
  cpu::CpuStream stream;
};

}  // namespace foldstep::test
