// What processes of one host see of each other by their names alone.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "check.hpp"
#include "cpu/comm/presence.hpp"
#include "runtime/error.hpp"

using namespace foldstep;
using namespace foldstep::cpu;
using namespace std::chrono_literals;
using State = Sighting::State;

namespace {

/// Of a job that the test's line tells from every other.
Launch launch(int line, int rank, int size = 3, int local_size = 3) {
  Launch launch;
  launch.rank = rank;
  launch.size = size;
  launch.local_size = local_size;
  launch.job = "presence test " + std::to_string(getpid()) + '.' + std::to_string(line);
  return launch;
}

/// A child process that appears as a rank and does what `then` says; killed at the end of the test.
class Rank {
 public:
  Rank(const Launch& launch, void (*then)()) {
    int ready[2];
    CHECK(pipe(ready) == 0);
    process = fork();
    if (process == 0) {
      Presence presence;
      presence.appear(launch);
      CHECK(write(ready[1], "", 1) == 1);
      then();
      _exit(0);
    }
    close(ready[1]);
    char byte;
    const bool appeared = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    CHECK(appeared);
  }
  ~Rank() { end(); }

  void end() {
    if (process == 0) return;
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    process = 0;
  }

  pid_t process = 0;
};

void sleep_on() {
  while (true) pause();
}

/// Ends, but leaves behind a program that was started while it was a rank.
void leave_program_behind() {
  if (fork() == 0) {
    alarm(20);
    execlp("sleep", "sleep", "20", nullptr);
  }
  std::this_thread::sleep_for(200ms);
}

/// A stopped process is so a moment after the signal has been sent.
Sighting look_until(Presence& presence, int rank, State wanted) {
  Sighting seen;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    seen = presence.look_for(rank);
    if (seen.state == wanted) break;
    std::this_thread::sleep_for(10ms);
  }
  return seen;
}

std::string process_of(const Rank& rank) {
  return "process " + std::to_string(rank.process);
}

}  // namespace

int main() {
  Tests test;

  test("a rank is seen with its process, stopped, going on and gone", [] {
    const Launch mine = launch(__LINE__, 0);
    Launch theirs = mine;
    theirs.rank = 1;
    Presence presence;
    presence.appear(mine);
    CHECK(presence.look_for(1).state == State::NotCome);
    Rank rank(theirs, sleep_on);
    const Sighting here = presence.look_for(1);
    CHECK(here.state == State::Here && here.process == rank.process);
    kill(rank.process, SIGSTOP);
    CHECK(look_until(presence, 1, State::Stopped).state == State::Stopped);
    kill(rank.process, SIGCONT);
    CHECK(look_until(presence, 1, State::Here).state == State::Here);
    const pid_t process = rank.process;
    rank.end();
    const Sighting gone = presence.look_for(1);
    CHECK(gone.state == State::Gone && gone.process == process);
  });

  test("the words name the stopped first, then the missing, then those that have ended", [] {
    const Launch mine = launch(__LINE__, 0);
    Launch first = mine;
    first.rank = 1;
    Launch second = mine;
    second.rank = 2;
    Presence presence;
    presence.appear(mine);
    Rank ended(first, sleep_on);
    Rank stopped(second, sleep_on);
    presence.look_around(3);
    kill(stopped.process, SIGSTOP);
    look_until(presence, 2, State::Stopped);
    const std::string ended_process = process_of(ended);
    ended.end();
    const Absence absence = presence.explain({0, 1, 2, 3});
    CHECK(absence.rank == 2);
    CHECK(absence.text == "rank 2 (" + process_of(stopped) +
                              ") is stopped; rank 3 has not called init(); rank 1 (" + ended_process +
                              ") has ended; rank 0 (process " + std::to_string(getpid()) + ") is running");
  });

  test("of ranks that may be on other hosts it claims no more than it sees", [] {
    Presence presence;
    presence.appear(launch(__LINE__, 0, 4, 2));
    CHECK(presence.explain({3}).text == "rank 3 has not called init() on this host");
    presence.all_have_come(4);
    CHECK(presence.look_for(3).state == State::Elsewhere);
    CHECK(presence.explain({3}).text == "rank 3 is not on this host");
  });

  test("a text of many ranks stays short", [] {
    Presence presence;
    presence.appear(launch(__LINE__, 0, 100, 100));
    std::vector<int> ranks;
    for (int rank = 1; rank < 100; ++rank) ranks.push_back(rank);
    const std::string text = presence.explain(ranks).text;
    // 99 ranks, of which 8 are described.
    CHECK(text.find("rank 8 ") != std::string::npos && text.find("rank 9 ") == std::string::npos);
    CHECK(text.find("and 91 more") != std::string::npos);
  });

  test("a second process with the place of a rank is refused, and told whose it is", [] {
    const Launch mine = launch(__LINE__, 1);
    const Rank rank(mine, sleep_on);
    Presence second;
    try {
      second.appear(mine);
      CHECK(false);
    } catch (const Error& error) {
      CHECK(error.code() == Code::MpiUnavailable && error.rank() == 1);
      CHECK(std::string(error.what()).find(process_of(rank) + " is rank 1") == 0);
    }
  });

  test("a program that a rank has started does not keep it alive", [] {
    const Launch mine = launch(__LINE__, 0);
    Launch theirs = mine;
    theirs.rank = 1;
    Presence presence;
    presence.appear(mine);
    Rank rank(theirs, leave_program_behind);
    CHECK(presence.look_for(1).state == State::Here);
    CHECK(look_until(presence, 1, State::Gone).state == State::Gone);
    Presence successor;
    successor.appear(theirs);
    CHECK(successor.look_for(1).process == getpid());
  });

  test("more who ask than a queue holds still see that the rank is there", [] {
    const Launch theirs = launch(__LINE__, 1);
    const Rank rank(theirs, sleep_on);
    for (int rank_of_asker = 2; rank_of_asker < 5000; ++rank_of_asker) {
      Launch mine = theirs;
      mine.rank = rank_of_asker;
      Presence asker;
      asker.appear(mine);
      CHECK(asker.look_for(1).state == State::Here);
    }
  });

  test("where the launcher gives the job no name, nothing is claimed", [] {
    Launch unnamed = launch(__LINE__, 0);
    unnamed.job.clear();
    Presence presence;
    presence.appear(unnamed);
    CHECK(presence.look_for(1).state == State::Unknown);
    CHECK(presence.explain({1}).text == "nothing is known here of rank 1");
  });

  return test.finish();
}
