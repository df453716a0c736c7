// Ranks that do different things, or one of them nothing: every member gets a typed error, soon, and no
// payload moves.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "job.hpp"

using namespace foldstep;
using namespace foldstep::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// A group of all ranks that a test may leave unusable.
class Expendable {
 public:
  explicit Expendable(Job& job) : stream(job.stream), group(split(job.stream, *job.world.communicator, 0)) {}

  Error expect(Code code) {
    return expect_error(code, [this] { finish(stream); });
  }

  Stream& stream;
  std::shared_ptr<Communicator> group;
};

void different_sizes(Job& job) {
  job.test("different sizes: all members throw, both sizes in the text", [&] {
    Expendable all(job);
    const bool last = all.group->rank() == all.group->size() - 1;
    const Span data = span_of(std::vector<float>(2048, 1.0F));
    all.group->all_reduce(all.stream, data, last ? 1021 : 1024, DType::F32, ReduceOp::Sum);
    const Error error = all.expect(Code::OperationMismatch);
    expect_text(error, "all-reduce #1 (count 1024, float32, sum)");
    expect_text(error, "all-reduce #1 (count 1021, float32, sum)");
    expect(
        error.rank() == job.world.communicator->rank() && error.peer() >= 0 && error.peer() != error.rank(),
        "the ranks in the error");
    expect(values_of<float>(data, 2048) == std::vector<float>(2048, 1.0F), "no payload has moved");

    all.group->barrier(all.stream);
    const auto begin = steady_clock::now();
    const Error again = all.expect(Code::OperationMismatch);
    expect(std::string(again.what()) == error.what(), "the same error again");
    expect(steady_clock::now() - begin < milliseconds(1000), "at once");
  });
}

void different_types(Job& job) {
  job.test("different types, operators and roots", [&] {
    const Span data = span_of(std::vector<double>(4));
    {
      Expendable all(job);
      all.group->all_reduce(all.stream, data, 4, all.group->rank() == 0 ? DType::F32 : DType::I32,
                            ReduceOp::Sum);
      const Error error = all.expect(Code::OperationMismatch);
      expect_text(error, "float32");
      expect_text(error, "int32");
    }
    {
      Expendable all(job);
      all.group->all_reduce(all.stream, data, 4, DType::F64,
                            all.group->rank() == 0 ? ReduceOp::Max : ReduceOp::Min);
      const Error error = all.expect(Code::OperationMismatch);
      expect_text(error, "max");
      expect_text(error, "min");
    }
    {
      Expendable all(job);
      all.group->broadcast(all.stream, data, 4, DType::F64, all.group->rank() == 0 ? 0 : 1);
      const Error error = all.expect(Code::OperationMismatch);
      expect_text(error, "root 0");
      expect_text(error, "root 1");
    }
  });
}

void different_order(Job& job) {
  job.test("another order of operations", [&] {
    Expendable all(job);
    const Span data = span_of(std::vector<float>(8));
    all.group->barrier(all.stream);
    if (all.group->rank() == 0) {
      all.group->all_reduce(all.stream, data, 8, DType::F32, ReduceOp::Sum);
      all.group->broadcast(all.stream, data, 8, DType::F32, 0);
    } else {
      all.group->broadcast(all.stream, data, 8, DType::F32, 0);
      all.group->all_reduce(all.stream, data, 8, DType::F32, ReduceOp::Sum);
    }
    const Error error = all.expect(Code::OperationMismatch);
    expect_text(error, "all-reduce #2");
    expect_text(error, "broadcast #2");
  });
  job.test("other details of an operation of the backend's own", [&] {
    Expendable all(job);
    auto& group = static_cast<cpu::CpuCommunicator&>(*all.group);
    cpu::CpuStream::of(all.stream).enqueue([&](const Cancelled& cancelled) {
      group.meet(announce("accumulate", 7, group.rank() == 0 ? 0x3f800000U : 0x3f000000U), cancelled);
    });
    const Error error = all.expect(Code::OperationMismatch);
    expect_text(error, "accumulate #1 (count 7, details 0x3f800000 0x0 0x0 0x0)");
    expect_text(error, "details 0x3f000000");
  });
}

void different_blocks(Job& job) {
  job.test("all-to-all: what one sends and the other expects differ, all members throw", [&] {
    Expendable all(job);
    const auto size = static_cast<std::size_t>(all.group->size());
    Communicator::Blocks send{std::vector<std::size_t>(size, 5), std::vector<std::size_t>(size, 0)};
    Communicator::Blocks receive = send;
    if (all.group->rank() == 1) receive.counts[0] = 7;
    all.group->all_to_all(all.stream, span_of(std::vector<float>(5)), send, span_of(std::vector<float>(7)),
                          receive, DType::F32);
    expect_text(all.expect(Code::OperationMismatch), "rank 0 sends 5 elements to rank 1, which expects 7");
  });
}

/// A communicator whose deadline is a second.
std::shared_ptr<cpu::CpuCommunicator> impatient(Job& job) {
  auto& world = static_cast<cpu::CpuCommunicator&>(*job.world.communicator);
  const auto transport = std::make_shared<std::unique_ptr<cpu::Transport>>();
  job.stream.enqueue([&](const Cancelled& cancelled) {
    world.meet(announce("split"), cancelled);
    world.wait(world.transport().split(0, 0, *transport), cancelled, transport);
  });
  finish(job.stream);
  return std::make_shared<cpu::CpuCommunicator>(std::move(*transport), milliseconds(1000));
}

void late_rank(Job& job) {
  job.test("a rank that does not come is named at the deadline", [&] {
    const auto group = impatient(job);
    const int late = group->size() - 1;
    if (group->rank() == late) {
      // Long enough for the others to have given up.
      std::this_thread::sleep_for(milliseconds(1500));
      return;
    }
    const auto begin = steady_clock::now();
    group->all_reduce(job.stream, span_of(std::vector<float>(8)), 8, DType::F32, ReduceOp::Sum);
    const Error error = expect_error(Code::DeadlineExceeded, [&] { finish(job.stream); });
    const auto waited = steady_clock::now() - begin;
    expect(waited > milliseconds(900) && waited < milliseconds(2500), "it took the deadline");
    expect(error.peer() == late, "the late rank is the peer");
    expect_text(error, "rank " + std::to_string(late) + " did not come within 1000 ms to all-reduce #1");
  });
  job.test("a collective that does not end runs into the deadline", [&] {
    const auto group = impatient(job);
    if (group->rank() == group->size() - 1) {
      // Announces, then fails to take part.
      job.stream.enqueue(
          [&](const Cancelled& cancelled) { group->meet(announce("all-reduce", 100'000), cancelled); });
      finish(job.stream);
      std::this_thread::sleep_for(milliseconds(1500));
      return;
    }
    group->all_reduce(job.stream, span_of(std::vector<float>(100'000)), 100'000, DType::F32, ReduceOp::Sum);
    expect_error(Code::DeadlineExceeded, [&] { finish(job.stream); });
  });
}

void closed_stream(Job& job) {
  job.test("closing the stream ends a wait for others", [&] {
    Expendable all(job);
    if (all.group->rank() != 0) return;
    cpu::CpuStream waiting;
    all.group->barrier(waiting);
    std::promise<std::exception_ptr> passed;
    waiting.notify([&](std::exception_ptr error) { passed.set_value(error); });
    std::this_thread::sleep_for(milliseconds(50));
    const auto begin = steady_clock::now();
    waiting.close();
    expect(steady_clock::now() - begin < milliseconds(1000), "at once");
    expect_error(Code::Aborted, [&] { std::rethrow_exception(passed.get_future().get()); });
    all.group->barrier(all.stream);
    all.expect(Code::Aborted);
  });
}

void bad_arguments(Job& job) {
  job.test("arguments that cannot be right are refused before anything is enqueued", [&] {
    Communicator& world = *job.world.communicator;
    const Span five = span_of(std::vector<float>(5));
    const Span many = span_of(std::vector<float>(5 * static_cast<std::size_t>(world.size())));
    const auto refused = [&](Code code, auto operation) { return expect_error(code, operation); };
    const Error length = refused(Code::InvalidLength,
                                 [&] { world.all_reduce(job.stream, five, 6, DType::F32, ReduceOp::Sum); });
    expect_text(length, "data needs 6 elements of float32 at byte 0, but its buffer has 20 bytes");
    refused(Code::InvalidLength, [&] {
      world.all_reduce(job.stream, {five.memory, 4}, 5, DType::F32, ReduceOp::Sum);
    });
    refused(Code::InvalidLength,
            [&] { world.all_reduce(job.stream, five, SIZE_MAX / 2, DType::F32, ReduceOp::Sum); });
    refused(Code::InvalidLength,
            [&] { world.reduce_scatter(job.stream, five, many, 5, DType::F32, ReduceOp::Sum); });
    refused(Code::InvalidLength, [&] { world.all_gather(job.stream, five, five, 5, DType::F32); });
    refused(Code::InvalidArgument, [&] { world.all_gather(job.stream, many, many, 5, DType::F32); });
    refused(Code::InvalidArgument, [&] { world.broadcast(job.stream, five, 5, DType::F32, world.size()); });
    refused(Code::InvalidArgument, [&] { world.broadcast(job.stream, {}, 5, DType::F32, 0); });
    refused(Code::InvalidArgument, [&] { world.split(job.stream, -1, 0, nullptr); });
    const auto size = static_cast<std::size_t>(world.size());
    const Communicator::Blocks fits{std::vector<std::size_t>(size, 1), std::vector<std::size_t>(size, 0)};
    Communicator::Blocks outside = fits;
    outside.offsets[size - 1] = SIZE_MAX / 4;
    refused(Code::InvalidLength,
            [&] { world.all_to_all(job.stream, five, outside, many, fits, DType::F32); });
    outside.offsets.pop_back();
    refused(Code::InvalidArgument,
            [&] { world.all_to_all(job.stream, five, fits, many, outside, DType::F32); });
    world.barrier(job.stream);
    finish(job.stream);
  });
}

void failing_mpi(Job& job) {
  job.test("an error of MPI is a typed error", [&] {
    Expendable all(job);
    auto& group = static_cast<cpu::CpuCommunicator&>(*all.group);
    expect_text(expect_error(Code::MpiFailed,
                             [&] {
                               int data = 0;
                               group.transport().broadcast(&data, sizeof data, group.size() + 5);
                             }),
                "MPI_Ibcast failed on rank");
  });
}

}  // namespace

int main() {
  Job job;
  different_sizes(job);
  different_types(job);
  different_order(job);
  different_blocks(job);
  late_rank(job);
  closed_stream(job);
  bad_arguments(job);
  failing_mpi(job);
  return job.end();
}
