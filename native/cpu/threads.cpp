#include "cpu/threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "cpu/spin.hpp"

namespace foldstep::cpu {
namespace {

/// Waits until `word` differs from `old`: spinning for about ten microseconds, then looking again for about
/// as long as two loops of one step are apart while others may have the core, then asleep.
void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  constexpr int spins = 500;
  constexpr auto linger_time = std::chrono::microseconds(100);
  for (int i = 0; i < spins; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    spin_pause();
  }
  const auto end = std::chrono::steady_clock::now() + linger_time;
  while (std::chrono::steady_clock::now() < end) {
    if (word.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  }
  word.wait(old, std::memory_order_acquire);
}

/// A loop cut into `parts` runs of whole grains, as equal as they come.
struct Loop {
  std::size_t n;
  std::size_t grain;
  std::size_t parts;
  const std::function<void(std::size_t, std::size_t)>& body;

  std::size_t begin_of(std::size_t part) const {
    const std::size_t grains = (n - 1) / grain + 1;
    const std::size_t begin = part * (grains / parts) + std::min(part, grains % parts);
    return begin >= grains ? n : begin * grain;
  }
  void run(std::size_t part) const { body(begin_of(part), begin_of(part + 1)); }
};

struct Release {
  std::atomic<bool>& busy;
  ~Release() { busy = false; }
};

}  // namespace

struct Threads::State {
  explicit State(std::size_t count) : errors(count) {}

  ~State() {
    stopping = true;
    begin_round();
    for (std::thread& worker : workers) worker.join();
  }

  // Apart from the constructor, so that the workers there are get stopped if one more cannot be had.
  void start() {
    for (std::size_t part = 1; part < errors.size(); ++part) {
      workers.emplace_back([this, part] { serve(part); });
    }
  }

  void begin_round() {
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
  }

  void serve(std::size_t part) {
    for (std::uint32_t seen = 0;; ++seen) {
      wait_for_change(round, seen);
      if (stopping) return;
      run(part);
      if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished.notify_one();
    }
  }

  void run(std::size_t part) {
    if (part >= loop->parts) return;
    try {
      loop->run(part);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  }

  void run_all(const Loop& all) {
    loop = &all;
    unfinished.store(static_cast<std::uint32_t>(workers.size()), std::memory_order_relaxed);
    begin_round();
    run(0);
    while (const std::uint32_t left = unfinished.load(std::memory_order_acquire))
      wait_for_change(unfinished, left);

    std::exception_ptr first;
    for (std::exception_ptr& error : errors) {
      if (!first) first = error;
      error = nullptr;
    }
    if (first) std::rethrow_exception(first);
  }

  std::atomic<bool> busy{false};
  const Loop* loop = nullptr;
  bool stopping = false;  // this and `loop` are published by `round`
  std::atomic<std::uint32_t> round{0};
  std::atomic<std::uint32_t> unfinished{0};  // workers
  std::vector<std::exception_ptr> errors;    // of each part
  std::vector<std::thread> workers;
};

Threads::Threads(int count) : state_(std::make_unique<State>(static_cast<std::size_t>(std::max(count, 1)))) {
  state_->start();
}

Threads::~Threads() = default;

int Threads::count() const {
  return static_cast<int>(state_->errors.size());
}

void Threads::parallel_for(std::size_t n, std::size_t grain,
                           const std::function<void(std::size_t, std::size_t)>& body) {
  if (n == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t parts = std::min<std::size_t>(state_->errors.size(), (n - 1) / grain + 1);
  if (parts == 1 || state_->busy.exchange(true)) {
    body(0, n);
    return;
  }
  const Release release{state_->busy};
  state_->run_all({n, grain, parts, body});
}

}  // namespace foldstep::cpu
