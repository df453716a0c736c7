// Who runs when: a scheduler that starves threads looks like a deadlock of the kernels that are tested on it.
#include <algorithm>
#include <numeric>

#include "support.hpp"

using namespace foldstep::cuda;
using namespace foldstep::test;

namespace {

constexpr unsigned blocks = 4;
constexpr unsigned threads = blocks * block_threads;

unsigned global_index() {
  return block_index() * block_threads + thread_index();
}

FOLDSTEP_KERNEL(64, 1) note_order(unsigned* orders, unsigned* next, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    orders[(*next)++] = global_index();
    block_barrier();
  }
}

/// Every thread goes on when the one behind it has.
FOLDSTEP_KERNEL(64, 1) chain(std::uint32_t* flags) {
  const unsigned i = global_index();
  if (i + 1 < threads) {
    while (load_acquire_system(flags + i + 1) == 0) foldstep::cuda::pause();
  }
  store_release_system(flags + i, 1);
}

FOLDSTEP_KERNEL(64, 1) chain_without_pause(std::uint32_t* flags) {
  const unsigned i = global_index();
  if (i > 0) {
    while (load_relaxed_system(flags + i - 1) == 0) {
    }
  }
  store_relaxed_system(flags + i, 1);
}

std::vector<unsigned> order_of(const std::string& simulate, unsigned rounds) {
  const Shared<unsigned> board(rounds * threads + 1);
  pass(simulate, [&] {
    const cudaStream_t stream = new_stream();
    must(start(note_order, blocks, stream, board.data(), board.data() + rounds * threads, rounds));
    must(cudaStreamSynchronize(stream));
  });
  return {board.data(), board.data() + rounds * threads};
}

}  // namespace

int main() {
  Tests test;

  test("every thread of every block runs once", [] {
    std::vector<unsigned> order = order_of("", 1);
    CHECK(!std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    for (unsigned i = 0; i < threads; ++i) CHECK(order[i] == i);
  });

  test("a seed gives one order, and seeds give different ones", [] {
    CHECK(order_of("seed=5", 1) == order_of("seed=5", 1));
    CHECK(order_of("seed=5", 1) != order_of("seed=6", 1));
  });

  test("every round has an order of its own", [] {
    const std::vector<unsigned> order = order_of("seed=5", 2);
    CHECK(!std::equal(order.begin(), order.begin() + threads, order.begin() + threads));
  });

  test("blocks are interleaved", [] {
    const std::vector<unsigned> order = order_of("", 1);
    std::vector<unsigned> seen(blocks);
    for (unsigned i = 0; i < threads / 2; ++i) ++seen[order[i] / block_threads];
    for (const unsigned count : seen) CHECK(count > 0 && count < block_threads);
  });

  test("threads that wait for each other all come to their end, whatever the seed", [] {
    for (int seed = 1; seed <= 20; ++seed) {
      for (const char* delay : {"", ",delay"}) {
        pass("idle-limit-ms=5000,seed=" + std::to_string(seed) + delay, [] {
          const cudaStream_t stream = new_stream();
          const DeviceArray<std::uint32_t> flags(2 * threads);
          flags.write(std::vector<std::uint32_t>(2 * threads));
          must(start(chain, blocks, stream, flags.data()));
          must(start(chain_without_pause, blocks, stream, flags.data() + threads));
          must(cudaStreamSynchronize(stream));
        });
      }
    }
  });

  return test.finish();
}
