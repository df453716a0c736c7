#pragma once

#include <array>
#include <barrier>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace foldstep::tsan {

constexpr unsigned threads_run = 4;

/// The calling thread's place in the block that it runs in.
unsigned thread_index();

/// The threads that run one kernel after another, as those of a stream do, each kernel as one block.
class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// The block that the calling thread runs in.
  static Block& current();

  /// Returns when every thread has run `kernel`, all of them through equally many barriers.
  void run(const std::function<void()>& kernel);

  void barrier() { barrier_.arrive_and_wait(); }
  /// The same memory for every thread that comes with the same identity.
  void* shared_array(const void* identity, std::size_t bytes);

 private:
  void run_thread(unsigned index);

  std::barrier<> barrier_{threads_run};
  /// Of the caller too: a kernel begins, and a kernel has ended.
  std::barrier<> turns_{threads_run + 1};
  const std::function<void()>* kernel_ = nullptr;
  std::mutex mutex_;
  std::map<const void*, std::vector<std::max_align_t>> shared_;
  std::array<std::thread, threads_run> threads_;
};

}  // namespace foldstep::tsan
