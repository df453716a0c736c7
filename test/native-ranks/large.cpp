// Operations larger than the pieces they are cut into: 2^20 elements of a reduction, 2^22 bytes of a copy, 1
// MiB of BF16 values.

#include <cstdint>
#include <string>
#include <vector>

#include "job.hpp"
#include "numerics/bf16.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

constexpr std::size_t reduced = (std::size_t{1} << 20) + 5;
constexpr std::size_t copied = (std::size_t{1} << 22) + 3;

/// Differs between ranks and from place to place, also across the cuts; sums over eight ranks fit a byte.
std::uint8_t byte_of(int rank, std::size_t i) {
  return static_cast<std::uint8_t>((i * 37 + (i >> 16) + static_cast<std::size_t>(rank) * 7) % 31);
}

std::vector<std::uint8_t> bytes(int rank, std::size_t count, std::size_t first = 0) {
  std::vector<std::uint8_t> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = byte_of(rank, first + i);
  return result;
}

/// The sum over the ranks at each place.
std::vector<std::uint8_t> sums(int ranks, std::size_t count, std::size_t first = 0) {
  std::vector<std::uint8_t> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int rank = 0; rank < ranks; ++rank) result[i] += byte_of(rank, first + i);
  }
  return result;
}

std::vector<std::uint16_t> bf16(const std::vector<std::uint8_t>& numbers) {
  std::vector<std::uint16_t> result;
  for (const std::uint8_t number : numbers) result.push_back(numerics::f32_to_bf16(number));
  return result;
}

void reductions(Job& job) {
  Communicator& world = *job.world.communicator;
  job.test("all-reduce in two pieces", [&] {
    const Span data = span_of(bytes(world.rank(), reduced));
    world.all_reduce(job.stream, data, reduced, DType::U8, ReduceOp::Sum);
    finish(job.stream);
    expect(values_of<std::uint8_t>(data, reduced) == sums(world.size(), reduced), "the sums");
  });
  job.test("reduce-scatter in two pieces", [&] {
    const Span source = span_of(bytes(world.rank(), reduced * static_cast<std::size_t>(world.size())));
    const Span target = span_of(std::vector<std::uint8_t>(reduced));
    world.reduce_scatter(job.stream, source, target, reduced, DType::U8, ReduceOp::Sum);
    finish(job.stream);
    const std::size_t first = reduced * static_cast<std::size_t>(world.rank());
    expect(values_of<std::uint8_t>(target, reduced) == sums(world.size(), reduced, first), "the sums");
  });
}

void bf16_reductions(Job& job) {
  Communicator& world = *job.world.communicator;
  job.test("bfloat16 all-reduce in several chunks", [&] {
    const Span data = span_of(bf16(bytes(world.rank(), reduced)));
    world.all_reduce(job.stream, data, reduced, DType::BF16, ReduceOp::Sum);
    finish(job.stream);
    expect(values_of<std::uint16_t>(data, reduced) == bf16(sums(world.size(), reduced)), "the sums");
  });
  job.test("bfloat16 reduce-scatter in several chunks", [&] {
    const Span source = span_of(bf16(bytes(world.rank(), reduced * static_cast<std::size_t>(world.size()))));
    const Span target = span_of(std::vector<std::uint16_t>(reduced));
    world.reduce_scatter(job.stream, source, target, reduced, DType::BF16, ReduceOp::Sum);
    finish(job.stream);
    const std::size_t first = reduced * static_cast<std::size_t>(world.rank());
    expect(values_of<std::uint16_t>(target, reduced) == bf16(sums(world.size(), reduced, first)), "the sums");
  });
}

void copies(Job& job) {
  Communicator& world = *job.world.communicator;
  const auto size = static_cast<std::size_t>(world.size());
  job.test("broadcast in two pieces", [&] {
    const Span data = span_of(bytes(world.rank(), copied));
    world.broadcast(job.stream, data, copied, DType::U8, world.size() - 1);
    finish(job.stream);
    expect(values_of<std::uint8_t>(data, copied) == bytes(world.size() - 1, copied), "what the root holds");
  });
  job.test("all-gather in two pieces", [&] {
    const Span target = span_of(std::vector<std::uint8_t>(copied * size));
    world.all_gather(job.stream, span_of(bytes(world.rank(), copied)), target, copied, DType::U8);
    finish(job.stream);
    for (std::size_t rank = 0; rank < size; ++rank) {
      expect(values_of<std::uint8_t>({target.memory, rank * copied}, copied) ==
                 bytes(static_cast<int>(rank), copied),
             "the part of " + std::to_string(rank));
    }
  });
  job.test("all-to-all with blocks in two pieces and small ones", [&] {
    // To the next rank a large block, to the others one element.
    const auto length = [&](std::size_t from, std::size_t to) {
      return (from + 1) % size == to ? copied : 1;
    };
    const auto self = static_cast<std::size_t>(world.rank());
    Communicator::Blocks send;
    Communicator::Blocks receive;
    std::size_t sent = 0;
    std::size_t received = 0;
    for (std::size_t peer = 0; peer < size; ++peer) {
      send.offsets.push_back(sent);
      send.counts.push_back(length(self, peer));
      sent += length(self, peer);
      receive.offsets.push_back(received);
      receive.counts.push_back(length(peer, self));
      received += length(peer, self);
    }
    const Span target = span_of(std::vector<std::uint8_t>(received));
    world.all_to_all(job.stream, span_of(bytes(world.rank(), sent)), send, target, receive, DType::U8);
    finish(job.stream);
    for (std::size_t peer = 0; peer < size; ++peer) {
      std::size_t offset = 0;
      for (std::size_t to = 0; to < self; ++to) offset += length(peer, to);
      expect(values_of<std::uint8_t>({target.memory, receive.offsets[peer]}, receive.counts[peer]) ==
                 bytes(static_cast<int>(peer), receive.counts[peer], offset),
             "the block of " + std::to_string(peer));
    }
  });
}

}  // namespace

int main() {
  Job job;
  reductions(job);
  bf16_reductions(job);
  copies(job);
  return job.end();
}
