// Starts jobs of several ranks for lib/launch. The first argument says what this process is.
//
// job RANKS GRACE_MS COUNT PROGRAM... [LAUNCHER...]
//   It supervises a job. COUNT is the number of words of the program.
//
// rank NAME
//   It is a guard: it stands between the launcher and one rank, and finds the supervisor by its name.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>

#include "launch/guard.hpp"
#include "launch/supervisor.hpp"

int main(int count, char** values) {
  using namespace foldstep::launch;
  const std::span<char* const> arguments(values, static_cast<std::size_t>(count));
  try {
    if (count == 3 && std::strcmp(arguments[1], "rank") == 0) return guard_rank(arguments[2]);
    if (count > 5 && std::strcmp(arguments[1], "job") == 0) {
      const auto words = static_cast<std::size_t>(std::atoi(arguments[4]));
      const auto rest = arguments.subspan(5);
      if (words >= 1 && words <= rest.size()) {
        return supervise({std::atoi(arguments[2]), std::chrono::milliseconds(std::atoll(arguments[3])),
                          rest.first(words), rest.subspan(words)});
      }
    }
    std::fprintf(stderr, "foldstep-launch is a part of foldstep; start jobs with: npx foldstep run\n");
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "foldstep run: the job cannot be supervised: %s\n", error.what());
    return 1;
  }
}
