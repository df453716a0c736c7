// The threads cut loops deterministically, do all of the work and carry exceptions.
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "check.hpp"
#include "support.hpp"

using namespace support;

namespace {

using Parts = std::set<std::pair<std::size_t, std::size_t>>;

Parts parts_of(Threads& threads, std::size_t n, std::size_t grain) {
  std::mutex mutex;
  Parts parts;
  threads.parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard lock(mutex);
    parts.emplace(begin, end);
  });
  return parts;
}

void check_partition() {
  constexpr std::size_t huge = (std::size_t{1} << 32) + 5;
  for (const int count : {1, 2, 3, 7}) {
    Threads threads(count);
    CHECK(threads.count() == count);
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{1000}, huge, ~std::size_t{0}}) {
      for (const std::size_t grain : {std::size_t{1}, std::size_t{16}, std::size_t{999}, huge}) {
        const Parts parts = parts_of(threads, n, grain);
        CHECK(parts == parts_of(threads, n, grain));
        CHECK(count == 1 ? parts.size() <= 1 : parts.size() <= static_cast<std::size_t>(4 * count));
        CHECK(n == 0 || parts.size() <= (n - 1) / grain + 1);
        std::size_t covered = 0;
        for (const auto& [begin, end] : parts) {
          CHECK(begin == covered && end > begin && begin % grain == 0);
          covered = end;
        }
        CHECK(covered == n);
      }
    }
  }
}

void check_all_threads_take_part() {
  Threads threads(3);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> there{0};
  threads.parallel_for(3, 1, [&](std::size_t, std::size_t) {
    // None goes on before all have come, so that none can do another's part.
    ++there;
    while (there < 3) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  CHECK(ids.size() == 3 && ids.count(std::this_thread::get_id()) == 1);
}

void check_exceptions() {
  Threads threads(3);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> finished{0};
    std::string caught;
    try {
      threads.parallel_for(3, 1, [&](std::size_t begin, std::size_t) {
        if (begin > 0) throw std::runtime_error("part " + std::to_string(begin));
        ++finished;
      });
    } catch (const std::exception& error) {
      caught = error.what();
    }
    CHECK(caught == "part 1" && finished == 1);
  }
  CHECK(parts_of(threads, 3, 1).size() == 3);
}

/// Many short loops from two threads at once, one of them with a loop inside.
void check_shared_use() {
  Threads threads(2);
  constexpr int rounds = 2000;
  std::atomic<int> sum{0};
  const auto use = [&](bool nested) {
    for (int round = 0; round < rounds; ++round) {
      threads.parallel_for(8, 1, [&](std::size_t begin, std::size_t end) {
        if (!nested) {
          sum += static_cast<int>(end - begin);
          return;
        }
        threads.parallel_for(end - begin, 1,
                             [&](std::size_t b, std::size_t e) { sum += static_cast<int>(e - b); });
      });
    }
  };
  std::thread other([&] { use(true); });
  use(false);
  other.join();
  CHECK(sum == 2 * rounds * 8);
}

}  // namespace

int main() {
  Tests test;
  test("parts are the same each time, cover everything once and begin at the grain", check_partition);
  test("every thread takes part, the caller among them", check_all_threads_take_part);
  test("the first part's exception arrives after all parts have ended", check_exceptions);
  test("two callers and a loop within a loop get all their work done", check_shared_use);
  return test.finish();
}
