// The last rank ends in good order while the others still wait for it.

#include <chrono>
#include <string>

#include "job.hpp"

using namespace foldstep;
using namespace foldstep::test;
using std::chrono::steady_clock;

int main() {
  // Much longer than it may take.
  Job job(std::chrono::milliseconds(60'000));
  Communicator& world = *job.world.communicator;
  const int leaver = world.size() - 1;
  const auto all = split(job.stream, world, 0);
  const auto stayers = split(job.stream, world, world.rank() == leaver ? 1 : 0);
  if (world.rank() == leaver) {
    job.stream.close();
    close_world(0);
    return 0;
  }

  job.narrow(stayers);
  for (Communicator* group : {&world, all.get()}) {
    job.test("who waits for a rank that has left is told so at once", [&] {
      const auto begin = steady_clock::now();
      group->all_reduce(job.stream, span_of(std::vector<float>(4)), 4, DType::F32, ReduceOp::Sum);
      const Error error = expect_error(Code::PeerExited, [&] { finish(job.stream); });
      expect(steady_clock::now() - begin < std::chrono::seconds(5), "at once");
      expect(error.peer() == leaver, "the rank that left is the peer");
      expect_text(error, "rank " + std::to_string(leaver) + " has exited");
    });
  }
  job.test("those who stay go on among themselves", [&] {
    const Span data = span_of(std::vector<std::int32_t>{1});
    stayers->all_reduce(job.stream, data, 1, DType::I32, ReduceOp::Sum);
    finish(job.stream);
    expect(*data.as<std::int32_t>() == stayers->size(), "their number");
  });
  return job.end();
}
