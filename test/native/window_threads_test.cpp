// Threads as ranks over one memory: what ThreadSanitizer can see of the protocol between processes.
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <random>
#include <thread>

#include "check.hpp"
#include "cpu/host_memory.hpp"
#include "cpu/window/signals.hpp"
#include "local_team.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

constexpr std::size_t n = 1500;

void run_rounds(Member& member, int rounds) {
  const int members = member.team.communicator->size();
  std::minstd_rand random(1U + static_cast<unsigned>(member.rank));
  auto* const gradients = reinterpret_cast<float*>(member.team.window->slab()->data());
  const float* const accumulators = gradients + n;
  float want = 0;
  for (int round = 1; round <= rounds; ++round) {
    for (std::size_t e = 0; e < n; ++e) gradients[e] = static_cast<float>(round * (member.rank + 1));
    if (round % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    const bool mirror = round % 3 == 0;
    member.enqueue(member.request(round % 2 == 0 ? Path::Direct : Path::Owner, n, mirror));
    member.finish();
    const auto sum = static_cast<float>(round * members * (members + 1) / 2);
    want += sum;
    for (std::size_t e = 0; e < n; ++e) {
      CHECK(accumulators[e] == want);
      CHECK(!mirror || gradients[e] == sum);
    }
  }
}

void run_team(int members, bool spin) {
  std::vector<std::shared_ptr<Memory>> blocks;
  for (int i = 0; i < members; ++i) {
    blocks.push_back(std::make_shared<cpu::HostMemory>(cpu::CpuWindow::block_bytes(2 * n * sizeof(float))));
    cpu::CpuWindow::prepare(*blocks.back());
  }
  const std::vector<cpu::ProcessIdentity> processes(blocks.size(), cpu::ProcessIdentity::self());
  std::vector<std::exception_ptr> failures(blocks.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < members; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Member member(rank, blocks, processes, std::chrono::seconds(30), spin);
        run_rounds(member, 300);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// What a turn of two members throws; `at_end` runs before the meeting that ends it.
template <typename AtEnd>
std::optional<Code> take_turn(cpu::Signals& signals, const AtEnd& at_end) {
  const Cancelled never{false};
  try {
    signals.take_turn(0, {0, 1}, Descriptor{}, never, [&](cpu::Signals::Turn& turn) {
      at_end();
      turn.barrier();
    });
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

void come_late_to_the_end() {
  using namespace std::chrono_literals;
  std::array<cpu::SignalBlock, 2> blocks;
  std::vector<cpu::Signals::Peer> peers;
  for (int rank = 0; rank < 2; ++rank) {
    peers.push_back({&blocks[static_cast<std::size_t>(rank)], cpu::ProcessIdentity::self(), rank});
  }
  cpu::Signals impatient(std::make_shared<cpu::Context>(50ms, false, 1), peers, 0);
  cpu::Signals late(std::make_shared<cpu::Context>(30s, false, 1), peers, 1);
  std::atomic<bool> given_up{false};
  std::optional<Code> first;
  std::thread thread([&] {
    first = take_turn(impatient, [] {});
    given_up = true;
  });
  // From here on the data of the first rank is its caller's again: what the second has read may be anything.
  const std::optional<Code> second = take_turn(late, [&] {
    while (!given_up) std::this_thread::sleep_for(1ms);
  });
  thread.join();
  CHECK(first == Code::DeadlineExceeded);
  CHECK(second == Code::DeadlineExceeded);
}

}  // namespace

int main() {
  Tests test;
  test("two members that spin agree in every round", [] { run_team(2, true); });
  test("two members that sleep agree in every round", [] { run_team(2, false); });
  test("five members that sleep agree in every round", [] { run_team(5, false); });
  test("a member that comes to the end of an operation after another has given up does not succeed",
       come_late_to_the_end);
  return test.finish();
}
