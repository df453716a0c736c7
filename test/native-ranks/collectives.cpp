// Every collective, type and operator against values computed here, on few and many elements and on nested
// groups.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "job.hpp"
#include "numerics/bf16.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

const std::vector<std::size_t> counts{0, 1, 2, 7, 63, 1025};

/// BF16 as a number that converts like the others do.
struct Bf16 {
  std::uint16_t bits;
  Bf16() = default;
  explicit Bf16(double value) : bits(numerics::f32_to_bf16(static_cast<float>(value))) {}
  explicit operator double() const { return numerics::bf16_to_f32(bits); }
  bool operator==(const Bf16&) const = default;
};

/// Of rank r at place i; small enough that every type holds sums of them over ten ranks exactly.
double value_at(int rank, std::size_t i) {
  return static_cast<double>((static_cast<std::size_t>(rank) * 5 + i * 3 + 1) % 11);
}

template <typename T>
std::vector<T> values(int rank, std::size_t count, std::size_t first = 0) {
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<T>(value_at(rank, first + i)));
  return result;
}

template <typename T>
std::vector<T> combined(const std::vector<int>& ranks, std::size_t count, std::size_t first, ReduceOp op) {
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i) {
    double all = value_at(ranks[0], first + i);
    for (std::size_t r = 1; r < ranks.size(); ++r) {
      const double next = value_at(ranks[r], first + i);
      all = op == ReduceOp::Sum   ? all + next
            : op == ReduceOp::Max ? std::max(all, next)
                                  : std::min(all, next);
    }
    result.push_back(static_cast<T>(all));
  }
  return result;
}

std::string name_of_op(ReduceOp op) {
  return op == ReduceOp::Sum ? "sum" : op == ReduceOp::Max ? "max" : "min";
}

template <typename T>
void reductions(Job& job, Communicator& group, DType type) {
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min}) {
    const int self = group.world_ranks()[group.rank()];
    const std::string name = std::string(name_of(type)) + " " + name_of_op(op);
    job.test("all-reduce " + name, [&] {
      for (const std::size_t count : counts) {
        const Span data = span_of(values<T>(self, count));
        group.all_reduce(job.stream, data, count, type, op);
        finish(job.stream);
        expect(values_of<T>(data, count) == combined<T>(group.world_ranks(), count, 0, op),
               std::to_string(count));
      }
    });
    job.test("reduce-scatter " + name, [&] {
      for (const std::size_t count : counts) {
        const Span source = span_of(values<T>(self, count * group.size()));
        const Span target = span_of(std::vector<T>(count));
        group.reduce_scatter(job.stream, source, target, count, type, op);
        finish(job.stream);
        expect(
            values_of<T>(target, count) == combined<T>(group.world_ranks(), count, count * group.rank(), op),
            std::to_string(count));
      }
    });
  }
}

template <typename T>
void copies(Job& job, Communicator& group, DType type) {
  const std::string name(name_of(type));
  const int self = group.world_ranks()[group.rank()];
  job.test("all-gather " + name, [&] {
    for (const std::size_t count : counts) {
      const Span target = span_of(std::vector<T>(count * group.size()));
      group.all_gather(job.stream, span_of(values<T>(self, count)), target, count, type);
      finish(job.stream);
      std::vector<T> expected;
      for (const int rank : group.world_ranks()) {
        const std::vector<T> part = values<T>(rank, count);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      expect(values_of<T>(target, count * group.size()) == expected, std::to_string(count));
    }
  });
  job.test("broadcast " + name + " from every root", [&] {
    for (int root = 0; root < group.size(); ++root) {
      for (const std::size_t count : counts) {
        const Span data = span_of(values<T>(self, count));
        group.broadcast(job.stream, data, count, type, root);
        finish(job.stream);
        expect(values_of<T>(data, count) == values<T>(group.world_ranks()[root], count),
               std::to_string(count));
      }
    }
  });
}

/// Rank r sends (r + 2 p) % 5 elements to rank p, from blocks with a gap of one, and receives them the last
/// rank first.
template <typename T>
void all_to_all(Job& job, Communicator& group, DType type) {
  const auto sent = [](std::size_t from, std::size_t to) { return (from + 2 * to) % 5; };
  job.test("all-to-all " + std::string(name_of(type)) + " with unequal blocks", [&] {
    const auto size = static_cast<std::size_t>(group.size());
    const auto self = static_cast<std::size_t>(group.rank());
    Communicator::Blocks send;
    Communicator::Blocks receive{std::vector<std::size_t>(size), std::vector<std::size_t>(size)};
    std::vector<T> source;
    std::size_t received = 0;
    for (std::size_t p = 0; p < size; ++p) {
      send.offsets.push_back(source.size());
      send.counts.push_back(sent(self, p));
      const std::vector<T> block = values<T>(group.rank(), sent(self, p) + 1, 7 * p);
      source.insert(source.end(), block.begin(), block.end());
      const std::size_t from = size - 1 - p;
      receive.offsets[from] = received;
      receive.counts[from] = sent(from, self);
      received += sent(from, self);
    }
    const Span target = span_of(std::vector<T>(received));
    group.all_to_all(job.stream, span_of(source), send, target, receive, type);
    finish(job.stream);
    for (std::size_t from = 0; from < size; ++from) {
      const std::vector<T> all = values_of<T>(target, received);
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(receive.offsets[from]);
      const std::vector<T> expected = values<T>(static_cast<int>(from), receive.counts[from], 7 * self);
      expect(std::equal(expected.begin(), expected.end(), begin), "block of " + std::to_string(from));
    }
  });
}

template <typename T>
void everything(Job& job, Communicator& group, DType type) {
  reductions<T>(job, group, type);
  copies<T>(job, group, type);
  all_to_all<T>(job, group, type);
}

/// 1 on rank 0 and eight times 2^-9 spread over the others: rounded at each hop, the small ones would be
/// lost.
void bf16_sum_rounds_once(Job& job) {
  Communicator& world = *job.world.communicator;
  if (world.size() == 1) return;
  job.test("bfloat16 sum of 1 and eight times 2^-9 rounds once", [&] {
    const int others = world.size() - 1;
    const int parts = 8 * world.rank() / others - 8 * (world.rank() - 1) / others;
    const Span data = span_of(std::vector<Bf16>{Bf16(world.rank() == 0 ? 1.0 : parts / 512.0)});
    world.all_reduce(job.stream, data, 1, DType::BF16, ReduceOp::Sum);
    finish(job.stream);
    const auto sum = static_cast<double>(*data.as<Bf16>());
    expect(sum == 1.015625, std::to_string(sum));
  });
}

void bf16_extremes_show_nan(Job& job) {
  Communicator& world = *job.world.communicator;
  for (const ReduceOp op : {ReduceOp::Max, ReduceOp::Min}) {
    job.test("bfloat16 " + name_of_op(op) + " of a NaN and numbers is NaN", [&] {
      for (int holder = 0; holder < world.size(); ++holder) {
        const double mine = world.rank() == holder ? std::nan("") : world.rank();
        const Span data = span_of(std::vector<Bf16>{Bf16(mine)});
        world.all_reduce(job.stream, data, 1, DType::BF16, op);
        finish(job.stream);
        expect(std::isnan(static_cast<double>(*data.as<Bf16>())),
               "the NaN of rank " + std::to_string(holder));
      }
    });
  }
}

void nested_split(Job& job) {
  Communicator& world = *job.world.communicator;
  job.test("split in two, reversed, and each again, with collectives on all three", [&] {
    const auto half = split(job.stream, world, world.rank() % 2, -world.rank());
    std::vector<int> expected;
    for (int rank = world.size() - 1; rank >= 0; --rank) {
      if (rank % 2 == world.rank() % 2) expected.push_back(rank);
    }
    expect(half->world_ranks() == expected, "members of the half");
    expect(half->world_ranks()[half->rank()] == world.rank(), "this rank's place");

    const auto quarter = split(job.stream, *half, half->rank() / 2);
    const int begin = half->rank() / 2 * 2;
    expected = {expected.begin() + begin, expected.begin() + std::min(begin + 2, half->size())};
    expect(quarter->world_ranks() == expected, "members of the quarter");

    for (Communicator* group : {&world, half.get(), quarter.get()}) {
      const Span data = span_of(std::vector<std::int32_t>{1 << world.rank()});
      group->all_reduce(job.stream, data, 1, DType::I32, ReduceOp::Sum);
      finish(job.stream);
      std::int32_t all = 0;
      for (const int rank : group->world_ranks()) all += 1 << rank;
      expect(*data.as<std::int32_t>() == all, "sum over " + std::to_string(group->size()) + " members");
    }
  });
  job.test("a hundred groups made and dropped", [&] {
    for (int i = 0; i < 100; ++i) {
      const auto group = split(job.stream, world, 0);
      group->barrier(job.stream);
      finish(job.stream);
    }
  });
}

void barrier(Job& job) {
  Communicator& world = *job.world.communicator;
  job.test("nobody passes a barrier before the last has come", [&] {
    for (int last = 0; last < world.size(); ++last) {
      world.barrier(job.stream);
      finish(job.stream);
      const auto begin = std::chrono::steady_clock::now();
      if (world.rank() == last) std::this_thread::sleep_for(std::chrono::milliseconds(60));
      world.barrier(job.stream);
      finish(job.stream);
      const auto waited = std::chrono::steady_clock::now() - begin;
      expect(waited >= std::chrono::milliseconds(30),
             "rank " + std::to_string(last) + " was late, but not waited for");
    }
  });
}

void order(Job& job) {
  Communicator& world = *job.world.communicator;
  job.test("operations enqueued at once run in order", [&] {
    const Span data = span_of(std::vector<double>{1});
    for (int i = 0; i < 20; ++i) world.all_reduce(job.stream, data, 1, DType::F64, ReduceOp::Sum);
    finish(job.stream);
    expect(*data.as<double>() == std::pow(world.size(), 20), "the sum of sums");
  });
}

}  // namespace

int main() {
  Job job;
  Communicator& world = *job.world.communicator;
  everything<float>(job, world, DType::F32);
  everything<double>(job, world, DType::F64);
  everything<Bf16>(job, world, DType::BF16);
  everything<std::int32_t>(job, world, DType::I32);
  everything<std::uint8_t>(job, world, DType::U8);
  bf16_sum_rounds_once(job);
  bf16_extremes_show_nan(job);
  nested_split(job);
  barrier(job);
  order(job);
  return job.end();
}
