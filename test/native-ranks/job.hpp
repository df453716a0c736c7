#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu/comm/cpu_communicator.hpp"
#include "cpu/stream.hpp"
#include "cpu/world.hpp"
#include "runtime/error.hpp"

namespace foldstep::test {

class HeapMemory final : public Memory {
 public:
  explicit HeapMemory(std::size_t bytes) : bytes_(bytes) {}
  std::byte* data() const override { return bytes_.data(); }
  std::size_t bytes() const override { return bytes_.size(); }

 private:
  mutable std::vector<std::byte> bytes_;
};

template <typename T>
Span span_of(const std::vector<T>& values) {
  auto memory = std::make_shared<HeapMemory>(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(memory->data(), values.data(), values.size() * sizeof(T));
  return {memory, 0};
}

template <typename T>
std::vector<T> values_of(const Span& span, std::size_t count) {
  std::vector<T> values(count);
  if (count != 0) std::memcpy(values.data(), span.as<T>(), count * sizeof(T));
  return values;
}

inline void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Waits for the stream; throws what an operation on it threw.
inline void finish(Stream& stream) {
  std::promise<std::exception_ptr> passed;
  stream.notify([&](std::exception_ptr error) { passed.set_value(error); });
  if (const std::exception_ptr error = passed.get_future().get()) std::rethrow_exception(error);
}

inline std::shared_ptr<Communicator> split(Stream& stream, Communicator& whole, int color, int key = 0) {
  std::shared_ptr<Communicator> part;
  whole.split(stream, color, key, [&](std::shared_ptr<Communicator> group) { part = std::move(group); });
  finish(stream);
  return part;
}

/// The error of `code` that `body` throws.
template <typename Body>
Error expect_error(Code code, Body body) {
  try {
    body();
  } catch (const Error& error) {
    expect(error.code() == code, "got " + std::string(name_of(error.code())) + ": " + error.what());
    return error;
  }
  throw std::runtime_error("no error where " + std::string(name_of(code)) + " was due");
}

inline void expect_text(const Error& error, const std::string& part) {
  expect(std::string(error.what()).find(part) != std::string::npos,
         "'" + part + "' is not in: " + error.what());
}

/// The tests of one program, run by all ranks together; rank 0 tells their results in TAP form.
class Job {
 public:
  explicit Job(std::chrono::milliseconds deadline = std::chrono::milliseconds(20'000))
      : world(open_world({Launcher::Auto, deadline})),
        verdicts_(world.communicator),
        tells_(world.communicator->rank() == 0),
        size_(world.communicator->size() == 1 ? "1 rank"
                                              : std::to_string(world.communicator->size()) + " ranks") {}

  /// From now on tests concern the members of `group` alone, which this rank is one of.
  void narrow(std::shared_ptr<Communicator> group) { verdicts_ = std::move(group); }

  void test(const std::string& name, const std::function<void()>& body) {
    std::int32_t passed = 1;
    try {
      body();
    } catch (const std::exception& error) {
      passed = 0;
      std::fprintf(stderr, "# %s: rank %d: %s\n", name.c_str(), world.communicator->rank(), error.what());
    }
    const bool all_passed = verdicts_ == nullptr ? passed == 1 : agree(passed);
    failed_ += all_passed ? 0 : 1;
    ++count_;
    if (!tells_) return;
    std::printf("%s %d - %s (%s)\n", all_passed ? "ok" : "not ok", count_, name.c_str(), size_.c_str());
    std::fflush(stdout);
  }

  /// Leaves the world. A test that follows is every rank's own.
  void leave() {
    verdicts_ = nullptr;
    stream.close();
    close_world(0);
  }

  /// The program's exit status.
  int end() {
    if (verdicts_ != nullptr) leave();
    if (tells_) std::printf("1..%d\n", count_);
    return failed_ == 0 ? 0 : 1;
  }

  World world;
  cpu::CpuStream stream;

 private:
  /// Whether `passed` is 1 on all ranks.
  bool agree(std::int32_t passed) {
    const Span verdict = span_of(std::vector<std::int32_t>{passed});
    verdicts_->all_reduce(stream, verdict, 1, DType::I32, ReduceOp::Min);
    finish(stream);
    return *verdict.as<std::int32_t>() == 1;
  }

  std::shared_ptr<Communicator> verdicts_;
  bool tells_;
  std::string size_;
  int count_ = 0;
  int failed_ = 0;
};

}  // namespace foldstep::test
