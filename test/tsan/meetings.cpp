#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fault.hpp"
#include "runtime/error.hpp"
#include "team.hpp"

/// Ranks meet as on devices, each on a thread of its own. ThreadSanitizer says what is a race; the program
/// fails if an operation fails that must not, succeeds where it must not, or succeeds with a wrong result.
const char* cudaGetErrorString(cudaError_t) {
  return "an error";
}

namespace foldstep::tsan {

namespace {

using namespace std::chrono_literals;
using cuda::Status;

void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// Every rank of the team does `body` on a thread of its own. Throws what one of them throws.
void on_every_rank(Team& team, const std::function<void(int rank)>& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(team.size()));
  std::vector<std::thread> threads;
  for (int r = 0; r < team.size(); ++r) {
    threads.emplace_back([r, &errors, &body] {
      try {
        body(r);
      } catch (...) {
        errors[static_cast<std::size_t>(r)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

void go_on_for_long(int ranks) {
  constexpr int operations = 1000;
  Team team({.ranks = ranks});
  on_every_rank(team, [&](int rank) {
    for (int i = 0; i < operations; ++i) {
      expect(team[rank].run_operation(1.0F).failed == 0, "an operation failed without a cause");
    }
  });
}

void announce_something_else(int round, int ranks, int other) {
  Team team({.ranks = ranks, .seed = round});
  on_every_rank(team, [&](int rank) {
    expect(team[rank].run_operation(1.0F).failed == 0, "the operation before the mismatch failed");
    const Status status = team[rank].run_operation(rank == other ? 2.0F : 1.0F);
    expect(status.failed != 0, "a mismatch was not seen by rank " + std::to_string(rank));
    expect(status.reason == Status::Mismatch ||
               (status.reason == Status::PeerAborted &&
                status.abort.reason == 1 + static_cast<std::uint32_t>(Code::OperationMismatch)),
           "a mismatch was given another reason: " + std::to_string(status.reason));
    expect(team[rank].run_operation(1.0F).failed != 0, "an operation after the mismatch succeeded");
  });
}

/// Gives how many operations failed.
int come_late(int round, int ranks, int late, int operation, Moment moment) {
  constexpr int operations = 3;
  constexpr auto deadline = 2ms;
  Team team({.ranks = ranks,
             .seed = round,
             .deadline_nanoseconds = std::chrono::nanoseconds(deadline).count(),
             .goes_on_after_failure = true});
  std::vector<int> succeeded(static_cast<std::size_t>(ranks));
  on_every_rank(team, [&](int rank) {
    bool fine = true;
    for (int i = 0; i < operations; ++i) {
      if (rank == late && i == operation) team[rank].delay(moment, 4 * deadline);
      const bool success = team[rank].run_operation(1.0F).failed == 0;
      expect(fine || !success, "rank " + std::to_string(rank) + " succeeded after it had failed");
      fine = success;
      if (success) ++succeeded[static_cast<std::size_t>(rank)];
    }
    team[rank].write_data();
  });
  int failures = 0;
  for (const int a : succeeded) {
    failures += operations - a;
    // One may have been through the last meeting of an operation in which another gave up, but no further.
    for (const int b : succeeded) expect(a <= b + 1, "a rank went on without one that had failed");
  }
  return failures;
}

void run() {
  for (int ranks = 2; ranks <= 4; ++ranks) go_on_for_long(ranks);
  for (int round = 0; round < 40; ++round) announce_something_else(round, 2 + round % 3, round % 2);
  int failures = 0;
  for (int round = 0; round < 90; ++round) {
    failures +=
        come_late(round, 2 + round % 3, round % 2, round / 3 % 3, static_cast<Moment>(round / 9 % moments));
  }
  expect(failures > 0, "nobody was ever late");
}

}  // namespace

}  // namespace foldstep::tsan

/// Usage: meetings [a fault to make].
int main(int argc, char** argv) {
  using namespace foldstep::tsan;
  const std::string_view wanted = argc > 1 ? argv[1] : "none";
  constexpr std::pair<std::string_view, Fault> faults[] = {{"none", Fault::None},
                                                           {"relaxed-release", Fault::RelaxedRelease},
                                                           {"relaxed-acquire", Fault::RelaxedAcquire},
                                                           {"no-exit", Fault::NoExit}};
  try {
    const auto* const found = std::find_if(std::begin(faults), std::end(faults),
                                           [&](const auto& entry) { return entry.first == wanted; });
    expect(found != std::end(faults), "there is no such fault");
    fault = found->second;
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
