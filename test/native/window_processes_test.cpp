// What becomes of ranks whose peer is killed, leaves or closes its stream. Real processes, apart from any
// launcher.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "check.hpp"
#include "cpu/window/shared_memory.hpp"
#include "local_team.hpp"

using namespace foldstep;
using namespace foldstep::test;
using namespace std::chrono_literals;

namespace {

constexpr int members = 3;
constexpr std::size_t n = 64;
constexpr auto deadline = 60s;
constexpr auto soon = 10s;

/// Where the processes of one test find each other.
struct Lobby {
  cpu::ProcessIdentity processes[members];
  std::atomic<int> present{0};
};

using Scenario = std::function<void(Member&)>;

/// In the child process: 0 if the scenario went as it should.
int play(int rank, const std::vector<std::shared_ptr<Memory>>& blocks, Lobby& lobby,
         const Scenario& scenario) {
  try {
    lobby.processes[rank] = cpu::ProcessIdentity::self();
    ++lobby.present;
    while (lobby.present != members) std::this_thread::sleep_for(1ms);
    const std::vector<cpu::ProcessIdentity> processes(lobby.processes, lobby.processes + members);
    Member member(rank, blocks, processes, deadline, false);
    scenario(member);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "# rank %d: %s\n", rank, error.what());
    return 1;
  }
}

/// Plays the scenario in one process per member. `victim` is killed by the scenario; the others must end
/// well.
void play_all(const Scenario& scenario, int victim = -1) {
  std::vector<std::shared_ptr<Memory>> blocks;
  for (int i = 0; i < members; ++i) {
    blocks.push_back(cpu::SharedSegment::create(cpu::CpuWindow::block_bytes(2 * n * sizeof(float))));
    cpu::CpuWindow::prepare(*blocks.back());
  }
  const auto lobby_memory = cpu::SharedSegment::create(sizeof(Lobby));
  Lobby& lobby = *new (lobby_memory->data()) Lobby;
  std::vector<pid_t> children;
  for (int rank = 0; rank < members; ++rank) {
    children.push_back(fork());
    if (children.back() == 0) _exit(play(rank, blocks, lobby, scenario));
  }
  std::vector<int> statuses(members);
  // The victim last: until then it is a process that has ended and that nobody has taken note of.
  for (int rank = 0; rank < members; ++rank) {
    if (rank != victim) waitpid(children[rank], &statuses[rank], 0);
  }
  if (victim >= 0) waitpid(children[victim], &statuses[victim], 0);
  for (int rank = 0; rank < members; ++rank) {
    if (rank == victim) {
      CHECK(WIFSIGNALED(statuses[rank]) && WTERMSIG(statuses[rank]) == SIGKILL);
    } else {
      CHECK(WIFEXITED(statuses[rank]) && WEXITSTATUS(statuses[rank]) == 0);
    }
  }
}

void accumulate(Member& member, Path path) {
  member.enqueue(member.request(path, n, false));
}

/// The next operation fails with `code`, naming `peer`, long before the deadline, and so does the one after.
void expect_failure(Member& member, Path path, Code code, int peer, const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  std::string first;
  for (int i = 0; i < 2; ++i) {
    accumulate(member, path);
    try {
      member.finish();
    } catch (const Error& error) {
      CHECK(error.code() == code);
      CHECK(error.peer() == peer);
      CHECK(std::string(error.what()).find(text) != std::string::npos);
      CHECK(first.empty() || first == error.what());
      first = error.what();
      continue;
    }
    throw std::runtime_error("no error");
  }
  CHECK(std::chrono::steady_clock::now() - start < soon);
}

}  // namespace

int main() {
  Tests test;
  test("a process is alive until it ends, and not if its id belongs to a later one", [] {
    cpu::ProcessIdentity self = cpu::ProcessIdentity::self();
    CHECK(self.alive());
    ++self.start_time;
    CHECK(!self.alive());
  });

  test("a rank killed before it comes is noticed and named", [] {
    play_all(
        [](Member& member) {
          accumulate(member, Path::Owner);
          member.finish();
          if (member.rank == 1) raise(SIGKILL);
          expect_failure(member, Path::Owner, Code::PeerExited, 1, "has ended");
        },
        1);
  });

  test("a rank killed while it waits is noticed and named", [] {
    play_all(
        [](Member& member) {
          if (member.rank == 1) {
            accumulate(member, Path::Direct);
            std::this_thread::sleep_for(200ms);
            raise(SIGKILL);
          }
          std::this_thread::sleep_for(500ms);
          // It has come, so it is missed only when the others leave.
          expect_failure(member, Path::Direct, Code::PeerExited, 1, "rank 1");
        },
        1);
  });

  test("a rank that gives up its window while others wait is named", [] {
    play_all([](Member& member) {
      accumulate(member, Path::Direct);
      member.finish();
      if (member.rank == 2) {
        member.team.window.reset();
        std::this_thread::sleep_for(1s);  // still alive: it is not its end that is noticed
      } else {
        expect_failure(member, Path::Direct, Code::PeerExited, 2, "has given up the window");
      }
    });
  });

  test("a rank that leaves after the last operation does not disturb it", [] {
    play_all([](Member& member) {
      for (int i = 0; i < 50; ++i) {
        accumulate(member, i % 2 == 0 ? Path::Direct : Path::Owner);
        member.finish();
      }
      member.team.window.reset();
    });
  });

  test("a closed stream ends its wait at once, and the others are told", [] {
    play_all([](Member& member) {
      if (member.rank == 0) {
        accumulate(member, Path::Direct);
        std::promise<std::exception_ptr> passed;
        member.stream.notify([&](std::exception_ptr error) { passed.set_value(error); });
        std::this_thread::sleep_for(100ms);
        member.stream.close();
        try {
          std::rethrow_exception(passed.get_future().get());
        } catch (const Error& error) {
          CHECK(error.code() == Code::Aborted);
        }
        std::this_thread::sleep_for(1s);
      } else {
        std::this_thread::sleep_for(300ms);
        expect_failure(member, Path::Direct, Code::PeerExited, 0, "closed its stream");
      }
    });
  });
  return test.finish();
}
