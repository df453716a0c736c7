#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

/// Ends the test that it is in, with the expression and its line.
#define CHECK(expression)                                                                               \
  do {                                                                                                  \
    if (!(expression)) throw std::runtime_error("line " + std::to_string(__LINE__) + ": " #expression); \
  } while (false)

/// Runs tests one by one and prints them as TAP.
class Tests {
 public:
  void operator()(const std::string& name, const std::function<void()>& test) {
    ++count_;
    try {
      test();
      std::printf("ok %d - %s\n", count_, name.c_str());
    } catch (const std::exception& error) {
      ++failed_;
      std::printf("not ok %d - %s: %s\n", count_, name.c_str(), error.what());
    }
    std::fflush(stdout);
  }

  /// The exit status.
  int finish() const {
    std::printf("1..%d\n", count_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  int count_ = 0;
  int failed_ = 0;
};
