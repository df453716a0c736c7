#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "random.hpp"
#include "store_buffer.hpp"

namespace foldstep::simulated {

constexpr unsigned threads_of_block = 64;
constexpr unsigned threads_of_warp = 32;

class Grid;
struct Block;

enum class State : std::uint8_t { Ready, AtBarrier, AtExchange, Ended };

struct Thread {
  Block* block = nullptr;
  unsigned index = 0;
  State state = State::Ready;
  std::source_location site;  ///< where it last waited
  unsigned exchanges = 0;
  bool only_waits = false;  ///< whether it does nothing but look whether others have done something
  StoreBuffer stores;
  Context context;
  Stack stack;
};

struct Warp {
  unsigned waiting = 0;
  unsigned ended = 0;
  /// Twice, since a thread may come to the next exchange before another has taken its value of this one.
  std::uint64_t values[2][threads_of_warp];
};

struct Block {
  Grid* grid = nullptr;
  unsigned index = 0;
  Thread threads[threads_of_block];
  Warp warps[threads_of_block / threads_of_warp];
  unsigned at_barrier = 0;
  unsigned ended = 0;
  std::map<const void*, std::vector<std::byte>> shared;
  /// Of all threads, from before the last barrier.
  StoreBuffer stores;
};

/// The run of one kernel: every round lets each thread that can go on do so once, in an order of its own,
/// whatever its block.
class Grid {
 public:
  Grid(unsigned blocks, std::function<void()> thread, std::source_location started_at, Random random,
       bool delays);

  /// Runs to the end. Gives what was wrong with the kernel; empty if nothing was.
  std::string run(std::chrono::milliseconds idle_limit);

  // For the thread that runs:
  static Thread& self();
  unsigned block_count() const { return static_cast<unsigned>(blocks_.size()); }
  bool delays() const { return delays_; }
  Random& random() { return random_; }
  /// Lets others run, until the next round.
  void yield(std::source_location site, bool only_waits);
  void barrier(std::source_location site);
  std::uint64_t exchange(std::uint64_t value, int mask, std::source_location site);
  /// Ends the kernel.
  [[noreturn]] void fail(const std::string& what, std::source_location site);
  /// Whether what this rank signals reaches others.
  bool answers();

 private:
  static void enter();
  void suspend(State state, std::source_location site);
  void resume(Thread& thread);
  void after(Thread& thread);
  void release_barrier(Block& block);
  void release_exchange(Block& block, Warp& warp, unsigned first);
  void drain_some(Thread& thread);
  void wait_a_moment();
  void report(const std::string& what);
  std::string describe(const Block& block) const;

  std::vector<std::unique_ptr<Block>> blocks_;
  std::function<void()> thread_;
  std::source_location started_at_;
  Random random_;
  bool delays_;
  std::vector<Thread*> ready_;
  std::size_t living_ = 0;
  bool progress_ = false;
  unsigned idle_rounds_ = 0;
  Context scheduler_;
  std::string fault_;
  std::optional<bool> answers_;
};

}  // namespace foldstep::simulated
