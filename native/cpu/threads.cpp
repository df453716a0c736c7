#include "cpu/threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "cpu/cache_line.hpp"
#include "runtime/spin.hpp"

namespace foldstep::cpu {
namespace {

/// Waits until `word` differs from `old`. First it keeps the core for about ten microseconds, because
/// most loops end that soon. Then it yields the core between two looks, and at last it sleeps.
void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  constexpr int spins = 500;
  const auto has_changed = [&word, old] { return word.load(std::memory_order_acquire) != old; };
  for (int i = 0; i < spins; ++i) {
    if (has_changed()) return;
    spin_pause();
  }
  const bool changed = look_again(std::chrono::steady_clock::now(), [&has_changed] {
    if (has_changed()) return true;
    std::this_thread::yield();
    return false;
  });
  if (!changed) word.wait(old, std::memory_order_acquire);
}

/// A loop cut into `parts` runs of whole grains, as equal as they come.
struct Loop {
  std::size_t n = 0;
  std::size_t grain = 1;
  std::size_t parts = 0;
  const std::function<void(std::size_t, std::size_t)>* body = nullptr;

  std::size_t begin_of(std::size_t part) const {
    const std::size_t grains = (n - 1) / grain + 1;
    const std::size_t begin = part * (grains / parts) + std::min(part, grains % parts);
    return begin >= grains ? n : begin * grain;
  }
  void run(std::size_t part) const { (*body)(begin_of(part), begin_of(part + 1)); }
};

/// Parts of a loop that one thread is to work off, which others may take from it while it is asleep. In one
/// word: the loop's number, how many parts there are, and the next.
class Share {
 public:
  void offer(std::uint32_t loop, std::size_t parts) {
    word_.store(std::uint64_t{loop} << 32 | parts << 16, std::memory_order_release);
  }
  /// The index of a part within this share, or -1 where none is left. Whoever has one may look at the loop:
  /// it lasts until the part is done.
  int take() {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    while ((word & 0xffff) < (word >> 16 & 0xffff)) {
      if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return static_cast<int>(word & 0xffff);
      }
    }
    return -1;
  }

 private:
  alignas(cache_line) std::atomic<std::uint64_t> word_{0};
};

/// So that a thread that comes late finds something left, and leaves little to wait for.
constexpr std::size_t parts_of_a_share = 4;

struct Release {
  std::atomic<bool>& busy;
  ~Release() { busy = false; }
};

}  // namespace

struct Threads::State {
  explicit State(std::size_t count) : shares(count), errors(count * parts_of_a_share) {}

  ~State() {
    stopping = true;
    begin_round();
    for (std::thread& worker : workers) worker.join();
  }

  // Apart from the constructor, so that the workers there are get stopped if one more cannot be had.
  void start() {
    for (std::size_t self = 1; self < shares.size(); ++self) {
      workers.emplace_back([this, self] { serve(self); });
    }
  }

  void begin_round() {
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
  }

  void serve(std::size_t self) {
    for (std::uint32_t seen = 0;;) {
      wait_for_change(round, seen);
      seen = round.load(std::memory_order_acquire);
      if (stopping) return;
      work(self);
    }
  }

  /// First this thread's own share, so that memory stays with a core, then what the others have left.
  void work(std::size_t self) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const std::size_t share = (self + i) % shares.size();
      for (int part = shares[share].take(); part >= 0; part = shares[share].take()) {
        run(first_of(share) + static_cast<std::size_t>(part));
        if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished.notify_one();
      }
    }
  }

  /// Part that a share begins with.
  std::size_t first_of(std::size_t share) const { return loop.parts * share / shares.size(); }

  void run(std::size_t part) {
    try {
      loop.run(part);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  }

  void run_all(const Loop& all) {
    loop = all;
    unfinished.store(static_cast<std::uint32_t>(all.parts), std::memory_order_relaxed);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i].offer(round.load(std::memory_order_relaxed), first_of(i + 1) - first_of(i));
    }
    begin_round();
    work(0);
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
  Loop loop;              // published by the shares
  bool stopping = false;  // published by `round`
  std::atomic<std::uint32_t> round{0};
  std::atomic<std::uint32_t> unfinished{0};  // parts
  std::vector<Share> shares;                 // of each thread
  std::vector<std::exception_ptr> errors;    // of each part
  std::vector<std::thread> workers;
};

Threads::Threads(int count) : state_(std::make_unique<State>(static_cast<std::size_t>(std::max(count, 1)))) {
  state_->start();
}

Threads::~Threads() = default;

int Threads::count() const {
  return static_cast<int>(state_->shares.size());
}

void Threads::parallel_for(std::size_t n, std::size_t grain,
                           const std::function<void(std::size_t, std::size_t)>& body) {
  if (n == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t parts = std::min<std::size_t>(state_->errors.size(), (n - 1) / grain + 1);
  if (parts == 1 || state_->shares.size() == 1 || state_->busy.exchange(true)) {
    body(0, n);
    return;
  }
  const Release release{state_->busy};
  state_->run_all({n, grain, parts, &body});
}

}  // namespace foldstep::cpu
