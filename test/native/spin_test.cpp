// A thread that looks again stops when what it waits for has come, and when its time is over.
#include <chrono>

#include "check.hpp"
#include "runtime/spin.hpp"

using namespace foldstep;
using Clock = std::chrono::steady_clock;

namespace {

/// Far enough in the future that the time is never over within a test.
Clock::time_point later() {
  return Clock::now() + std::chrono::hours(1);
}

void check_arrival() {
  int looks = 0;
  CHECK(look_again(later(), [&looks] { return ++looks == 3; }));
  CHECK(looks == 3);
}

void check_end_of_time() {
  const auto start = Clock::now();
  CHECK(!look_again(start, [] { return false; }));
  CHECK(Clock::now() - start >= look_again_time);
}

void check_time_before() {
  int looks = 0;
  CHECK(!look_again(Clock::now() - look_again_time, [&looks] { return ++looks > 0; }));
  CHECK(looks == 0);
}

void check_exception() {
  bool thrown = false;
  try {
    look_again(later(), []() -> bool { throw 1; });
  } catch (int) {
    thrown = true;
  }
  CHECK(thrown);
}

}  // namespace

int main() {
  Tests test;
  test("it stops at the look that finds what it waits for", check_arrival);
  test("it gives up when the time is over", check_end_of_time);
  test("time that is over before the first look leaves none", check_time_before);
  test("what a look throws arrives", check_exception);
  return test.finish();
}
