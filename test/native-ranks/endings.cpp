// How jobs end. Started without a launcher, it starts mpirun with itself as the ranks of one scenario after
// another.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "job.hpp"

using namespace foldstep;
using namespace foldstep::test;
using std::chrono::steady_clock;

namespace {

struct Ending {
  int code;
  std::string output;
  std::chrono::duration<double> time;
};

Ending run(const std::string& program, const std::string& scenario) {
  const auto begin = steady_clock::now();
  const std::string command = "timeout -s KILL 50 mpirun -n 3 '" + program + "' " + scenario + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  expect(pipe != nullptr, "popen");
  Ending ending;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) ending.output.append(buffer, n);
  const int status = pclose(pipe);
  ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ending.time = steady_clock::now() - begin;
  return ending;
}

/// Running; one that has ended but that nobody has asked after is not.
bool runs(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(status, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line[name_end + 2] != 'Z' && line[name_end + 2] != 'X';
}

/// Every process of the job, as they told, is gone, and nothing else was said.
void expect_gone(const Ending& ending, bool quiet) {
  std::istringstream lines(ending.output);
  std::string line;
  int ranks = 0;
  while (std::getline(lines, line)) {
    if (line.rfind("pid ", 0) == 0) {
      ++ranks;
      const int pid = std::atoi(line.c_str() + 4);
      // mpirun does not wait for those it has killed.
      for (int i = 0; i < 300 && runs(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      expect(!runs(pid), "a rank is left");
    } else {
      expect(!quiet, "the job said: " + line);
    }
  }
  expect(ranks == 3, "three ranks told their pid: " + ending.output);
}

/// One rank of a job.
int play(const std::string& scenario) {
  const World world = open_world({Launcher::Mpi, std::chrono::milliseconds(60'000)});
  const int rank = world.communicator->rank();
  std::printf("pid %d\n", getpid());
  std::fflush(stdout);
  cpu::CpuStream stream;
  world.communicator->barrier(stream);
  finish(stream);
  if (rank == 1) {
    if (scenario == "fails") close_world(7);
    if (scenario == "fails-with-256") close_world(256);
    if (scenario == "killed") raise(SIGKILL);
    if (scenario == "vanishes") _exit(0);
    if (scenario == "leaves") {
      close_world(0);
      return 0;
    }
  }
  if (scenario == "exits-in-collective" && rank == 0) {
    world.communicator->barrier(stream);
    close_world(9);
  }
  if (scenario == "pending" && rank == 0) world.communicator->barrier(stream);
  if (scenario != "clean" && scenario != "pending") {
    world.communicator->barrier(stream);
    try {
      finish(stream);
    } catch (const Error& error) {
      close_world(error.code() == Code::PeerExited && error.peer() == 1 ? 3 : 4);
    }
  }
  close_world(0);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) return play(arguments[1]);

  const std::string program = arguments[0];
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  Job job;
  const auto ends = [&](const std::string& name, const std::string& scenario, auto right_code,
                        bool quiet = false) {
    job.test(name, [&] {
      const Ending ending = run(program, scenario);
      expect(right_code(ending.code), "exit code " + std::to_string(ending.code) + ": " + ending.output);
      expect(ending.time < std::chrono::seconds(30), "within seconds");
      expect_gone(ending, quiet);
    });
  };
  const auto is = [](int wanted) { return [wanted](int code) { return code == wanted; }; };
  const auto failure = [](int code) { return code != 0; };
  ends("all end well: 0, and nothing is said", "clean", is(0), true);
  ends("one still waits for the others as all end: 0, and nothing is said", "pending", is(0), true);
  ends("one fails while others wait: its code", "fails", is(7));
  ends("one fails with a code that a host reads as 0: 1", "fails-with-256", is(1));
  ends("one fails in the middle of an operation of its own: its code", "exits-in-collective", is(9));
  ends("one leaves early: the others' code, though it is already finalizing", "leaves", is(3));
  ends("one is killed: the job ends", "killed", failure);
  ends("one vanishes without a word: the job ends", "vanishes", failure);
  return job.end();
}
