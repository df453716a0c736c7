#include "cpu/world.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "cpu/comm/alone_transport.hpp"
#include "cpu/comm/cpu_communicator.hpp"
#include "cpu/comm/exit_code.hpp"
#include "cpu/comm/farewell.hpp"
#include "cpu/comm/launcher.hpp"
#include "cpu/comm/mpi_loader.hpp"
#include "cpu/comm/mpi_start.hpp"
#include "cpu/comm/node_identity.hpp"
#include "cpu/comm/presence.hpp"
#include "cpu/cores.hpp"
#include "cpu/window/signals.hpp"
#include "runtime/error.hpp"

namespace foldstep {
namespace {

/// The MPI world of this process. Never destroyed: other threads may use it until the very end.
struct Process {
  std::mutex mutex;
  cpu::MpiStart start;
  World world;
  cpu::FarewellTimes times{};
  /// Set while the world is open. Apart from the mutex, so that a failing process can end the job at any
  /// time.
  std::atomic<cpu::MpiLibrary*> library{nullptr};
  bool closed = false;
  std::atomic<int> rank{-1};
};

Process& process() {
  static auto& instance = *new Process;
  return instance;
}

/// A rank alone shares nothing, so every caller gets a world of its own.
World open_alone(const WorldOptions& options) {
  World world;
  world.communicator =
      std::make_shared<cpu::CpuCommunicator>(std::make_shared<cpu::AloneTransport>(0), options.deadline);
  world.library = "none";
  return world;
}

/// Finds the ranks that share memory with this one.
void find_node(cpu::CpuCommunicator& communicator, World& world) {
  const Cancelled never{false};
  struct Buffers {
    cpu::NodeHash mine;
    std::vector<cpu::NodeHash> all;
  };
  const auto buffers = std::make_shared<Buffers>(
      Buffers{cpu::hash_node(cpu::node_identity()),
              std::vector<cpu::NodeHash>(static_cast<std::size_t>(communicator.size()))});
  communicator.meet(announce("node discovery"), never);
  communicator.wait(
      communicator.transport().all_gather(buffers->mine.data(), buffers->all.data(), sizeof(cpu::NodeHash)),
      never, buffers);
  world.local_size = 0;
  for (int rank = communicator.size() - 1; rank >= 0; --rank) {
    if (buffers->all[static_cast<std::size_t>(rank)] != buffers->mine) continue;
    world.node = rank;
    ++world.local_size;
    if (rank < communicator.rank()) ++world.local_rank;
  }
}

/// A rank that waits inside MPI must leave its core to others where there are not enough.
void prepare_crowded_host(const cpu::Launch& launch) {
  const bool crowded = !cpu::Cores::find().enough_for(launch.local_size);
  if (crowded) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

/// Ends a world well. The caller holds the mutex.
void leave(Process& self) {
  cpu::MpiLibrary* library = self.library.exchange(nullptr);
  if (library == nullptr) return;
  self.closed = true;
  cpu::Signals::leave_all();
  const Communicator& ranks = *self.world.communicator;
  cpu::leave_job(*library, ranks.rank(), ranks.size(), self.times);
}

/// Ranks that cannot find each other would each train a world of their own.
void check_same_world(Process& self, const cpu::Launch& launch) {
  const int rank = self.world.communicator->rank();
  const int size = self.world.communicator->size();
  if (launch.matches(rank, size)) return;
  // A world of this process alone is closed in silence; one that others are in is aborted as this process
  // ends.
  if (size == 1) leave(self);
  throw Error(
      Code::MpiUnavailable,
      launch.describe() + ", but foldstep's MPI (" + self.world.library + ") says rank " +
          std::to_string(rank) + " of " + std::to_string(size) +
          ": the launcher is not of that MPI; start the ranks with `npx foldstep run` or with that "
          "MPI's own launcher, or build foldstep with the launcher's MPI (`npm run build:native`), or "
          "work alone, with init({ launcher: 'none' })",
      launch.rank);
}

/// Without a word of MPI's, nothing leads to the others that the launcher started.
void check_alone() {
  const auto launch = cpu::this_launch();
  if (!launch || launch->matches(0, 1)) return;
  throw Error(Code::MpiUnavailable,
              launch->describe() +
                  ", but sets nothing by which MPI finds the others, so this would be rank 0 of 1; start the "
                  "ranks with `npx foldstep run`, mpirun or srun --mpi=pmix, or work alone, with init({ "
                  "launcher: 'none' }); if MPI does know the others, say so with init({ launcher: 'mpi' })",
              launch->rank);
}

World open_mpi(const WorldOptions& options) {
  Process& self = process();
  const std::lock_guard lock(self.mutex);
  if (self.library.load() != nullptr) return self.world;
  if (self.closed) {
    throw Error(Code::Disposed, "the MPI world of this process has been closed and cannot be opened again");
  }
  const cpu::Launch launch = cpu::this_launch().value_or(cpu::Launch{});
  cpu::Presence::get().appear(launch);
  cpu::MpiLibrary& library = cpu::load_mpi_library();
  prepare_crowded_host(launch);
  const auto communicator = std::make_shared<cpu::CpuCommunicator>(
      self.start.finish(library, launch, options.deadline), options.deadline);
  // From here on an exit must finalize or abort, also if what follows fails.
  self.library.store(&library);
  self.times = {options.deadline, options.exit_timeout};
  self.rank = communicator->rank();
  self.world.communicator = communicator;
  self.world.library = library.version();
  check_same_world(self, launch);
  cpu::Presence::get().all_have_come(communicator->size());
  find_node(*communicator, self.world);
  return self.world;
}

}  // namespace

bool joins_mpi(Launcher launcher) {
  if (launcher != Launcher::Auto) return launcher == Launcher::Mpi;
  const auto launch = cpu::this_launch();
  return launch && launch->offers_mpi;
}

World open_world(const WorldOptions& options) {
  if (joins_mpi(options.launcher)) return open_mpi(options);
  if (options.launcher == Launcher::Auto) check_alone();
  return open_alone(options);
}

int world_rank() {
  return process().rank;
}

void close_world(int exit_code) {
  Process& self = process();
  if (exit_code != 0) {
    if (cpu::MpiLibrary* library = self.library.load()) library->abort(cpu::code_of_failure(exit_code));
    return;
  }
  const std::lock_guard lock(self.mutex);
  leave(self);
}

}  // namespace foldstep
