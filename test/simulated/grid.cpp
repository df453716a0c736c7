#include "grid.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "options.hpp"

namespace foldstep::simulated {
namespace {

constinit thread_local Thread* running = nullptr;

std::string text(std::source_location site) {
  return std::string(site.file_name()) + ":" + std::to_string(site.line()) + " (" + site.function_name() +
         ")";
}

bool same(std::source_location a, std::source_location b) {
  return a.line() == b.line() && a.column() == b.column() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

std::string text(const Thread& thread) {
  switch (thread.state) {
    case State::AtBarrier:
      return "at the barrier at " + text(thread.site);
    case State::AtExchange:
      return "at the exchange at " + text(thread.site);
    case State::Ended:
      return "ended";
    case State::Ready:
      break;
  }
  return thread.site.line() == 0 ? "not begun" : "running, last seen at " + text(thread.site);
}

}  // namespace

Grid::Grid(unsigned blocks, std::function<void()> thread, std::source_location started_at, Random random,
           bool delays)
    : thread_(std::move(thread)), started_at_(started_at), random_(random), delays_(delays) {
  for (unsigned b = 0; b < blocks; ++b) {
    Block& block = *blocks_.emplace_back(std::make_unique<Block>());
    block.grid = this;
    block.index = b;
    for (unsigned t = 0; t < threads_of_block; ++t) {
      Thread& one = block.threads[t];
      one.block = &block;
      one.index = t;
      one.site = {};
      one.stack.prepare(one.context, enter);
      ready_.push_back(&one);
    }
  }
  living_ = ready_.size();
}

std::string Grid::run(std::chrono::milliseconds idle_limit) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_progress = Clock::now();
  while (living_ > 0 && fault_.empty()) {
    std::vector<Thread*> round = std::exchange(ready_, {});
    if (round.empty()) report("no thread can go on");
    for (std::size_t i = round.size(); i > 1; --i) std::swap(round[i - 1], round[random_.below(i)]);
    progress_ = false;
    for (Thread* thread : round) {
      resume(*thread);
      if (!fault_.empty()) break;
    }
    if (progress_) {
      idle_rounds_ = 0;
      last_progress = Clock::now();
    } else if (Clock::now() - last_progress > idle_limit) {
      report("nothing has happened for " + std::to_string(idle_limit.count()) + " ms");
    } else {
      wait_a_moment();
    }
  }
  return fault_;
}

Thread& Grid::self() {
  return *running;
}

void Grid::enter() {
  Grid& grid = *running->block->grid;
  grid.thread_();
  grid.suspend(State::Ended, running->site);
}

void Grid::suspend(State state, std::source_location site) {
  Thread& thread = *running;
  thread.state = state;
  thread.site = site;
  switch_context(thread.context, scheduler_);
}

void Grid::resume(Thread& thread) {
  running = &thread;
  switch_context(scheduler_, thread.context);
  running = nullptr;
  if (fault_.empty()) after(thread);
}

void Grid::after(Thread& thread) {
  Block& block = *thread.block;
  const unsigned first_of_warp = thread.index / threads_of_warp * threads_of_warp;
  Warp& warp = block.warps[thread.index / threads_of_warp];
  if (!std::exchange(thread.only_waits, false)) progress_ = true;
  if (delays_) drain_some(thread);
  switch (thread.state) {
    case State::Ready:
      ready_.push_back(&thread);
      return;
    case State::AtBarrier:
      ++block.at_barrier;
      break;
    case State::AtExchange:
      ++warp.waiting;
      break;
    case State::Ended:
      --living_;
      ++block.ended;
      ++warp.ended;
      thread.stores.drain(random_);
      break;
  }
  if (warp.waiting > 0 && warp.ended > 0) {
    report("an exchange is not reached by all threads of its warp");
  } else if (warp.waiting == threads_of_warp) {
    release_exchange(block, warp, first_of_warp);
  } else if (block.at_barrier > 0 && block.at_barrier + block.ended == threads_of_block) {
    release_barrier(block);
  }
  if (block.ended == threads_of_block) block.stores.drain(random_);
}

void Grid::release_barrier(Block& block) {
  const Thread* first = nullptr;
  for (Thread& thread : block.threads) {
    if (thread.state != State::AtBarrier) continue;
    if (first == nullptr) first = &thread;
    if (!same(first->site, thread.site)) return report("threads of a block are at different barriers");
  }
  for (Thread& thread : block.threads) {
    block.stores.append(thread.stores);
    if (thread.state != State::AtBarrier) continue;
    thread.state = State::Ready;
    ready_.push_back(&thread);
  }
  block.at_barrier = 0;
}

void Grid::release_exchange(Block& block, Warp& warp, unsigned first) {
  for (unsigned t = first; t < first + threads_of_warp; ++t) {
    if (!same(block.threads[t].site, block.threads[first].site)) {
      return report("threads of a warp are at different exchanges");
    }
  }
  for (unsigned t = first; t < first + threads_of_warp; ++t) {
    block.threads[t].state = State::Ready;
    ready_.push_back(&block.threads[t]);
  }
  warp.waiting = 0;
}

void Grid::yield(std::source_location site, bool only_waits) {
  running->only_waits = only_waits;
  suspend(State::Ready, site);
}

void Grid::barrier(std::source_location site) {
  suspend(State::AtBarrier, site);
}

std::uint64_t Grid::exchange(std::uint64_t value, int mask, std::source_location site) {
  Thread& thread = *running;
  Warp& warp = thread.block->warps[thread.index / threads_of_warp];
  const unsigned lane = thread.index % threads_of_warp;
  const unsigned other = lane ^ static_cast<unsigned>(mask);
  if (other >= threads_of_warp) fail("an exchange with lane " + std::to_string(other), site);
  std::uint64_t* values = warp.values[thread.exchanges++ % 2];
  values[lane] = value;
  suspend(State::AtExchange, site);
  return values[other];
}

void Grid::fail(const std::string& what, std::source_location site) {
  Thread& thread = *running;
  thread.site = site;
  fault_ = "kernel started at " + text(started_at_) + ": block " + std::to_string(thread.block->index) +
           " thread " + std::to_string(thread.index) + " at " + text(site) + ": " + what;
  switch_context(thread.context, scheduler_);
  std::abort();  // nothing switches to a thread of a kernel that has failed
}

bool Grid::answers() {
  if (!answers_) answers_ = simulated::answers();
  return *answers_;
}

void Grid::drain_some(Thread& thread) {
  StoreBuffer& stores = random_.one_in(2) ? thread.stores : thread.block->stores;
  if (!stores.empty() && random_.one_in(4)) stores.drain_one(random_);
}

/// While all threads wait for another rank, that one may want this processor.
void Grid::wait_a_moment() {
  constexpr unsigned rounds_before_sleep = 20;
  if (++idle_rounds_ < rounds_before_sleep) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Grid::report(const std::string& what) {
  fault_ = "kernel started at " + text(started_at_) + ": " + what;
  for (const auto& block : blocks_) {
    if (block->ended < threads_of_block)
      fault_ += "\n  block " + std::to_string(block->index) + ": " + describe(*block);
  }
}

std::string Grid::describe(const Block& block) const {
  std::string all;
  for (unsigned first = 0; first < threads_of_block;) {
    unsigned end = first + 1;
    while (end < threads_of_block && text(block.threads[end]) == text(block.threads[first])) ++end;
    all += (all.empty() ? "" : "; ") + std::string(end - first == 1 ? "thread " : "threads ") +
           std::to_string(first) + (end - first == 1 ? "" : " to " + std::to_string(end - 1)) + " " +
           text(block.threads[first]);
    first = end;
  }
  return all;
}

}  // namespace foldstep::simulated
