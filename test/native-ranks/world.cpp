// Opening, sharing and closing the world; finding the ranks of a node.

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "job.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  std::fprintf(stderr, "start this program with mpirun\n");
  std::exit(1);
}

}  // namespace

int main() {
  // Even and odd ranks play two nodes.
  const std::string node = launched_rank() % 2 == 0 ? "even" : "odd";
  setenv("FOLDSTEP_NODE", node.c_str(), 1);
  Job job;
  const World& world = job.world;
  const int rank = world.communicator->rank();
  const int size = world.communicator->size();

  job.test("ranks and node", [&] {
    expect(rank == launched_rank(), "the launcher's rank");
    expect(world.library.find("MPI") != std::string::npos, world.library);
    expect(world.node == rank % 2, "node " + std::to_string(world.node));
    expect(world.local_rank == rank / 2, "local rank " + std::to_string(world.local_rank));
    expect(world.local_size == (size + 1 - rank % 2) / 2, "local size " + std::to_string(world.local_size));
    for (int i = 0; i < size; ++i) {
      expect(world.communicator->world_ranks()[static_cast<std::size_t>(i)] == i, "world ranks");
    }
  });
  job.test("whoever opens it again gets the same world", [&] {
    World other;
    std::thread([&] { other = open_world({Launcher::Mpi, std::chrono::milliseconds(1)}); }).join();
    expect(other.communicator == world.communicator && other.local_size == world.local_size, "the same");
    expect(open_world({}).communicator == world.communicator, "the same");
  });
  job.test("a rank can also work alone", [&] {
    const World alone = open_world({Launcher::None, std::chrono::milliseconds(1000)});
    expect(alone.communicator->size() == 1 && alone.library == "none" && alone.local_size == 1, "one rank");
  });
  job.leave();
  job.test("a closed world is neither used nor opened again", [&] {
    close_world(0);
    close_world(5);
    expect_error(Code::Disposed, [] { open_world({Launcher::Mpi, std::chrono::milliseconds(1000)}); });
    cpu::CpuStream stream;
    job.world.communicator->barrier(stream);
    if (size > 1) expect_error(Code::Disposed, [&] { finish(stream); });
  });
  return job.end();
}
