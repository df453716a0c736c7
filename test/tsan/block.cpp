#include "block.hpp"

namespace foldstep::tsan {

namespace {

thread_local Block* block_of_thread = nullptr;
thread_local unsigned index_of_thread = 0;

}  // namespace

unsigned thread_index() {
  return index_of_thread;
}

Block& Block::current() {
  return *block_of_thread;
}

Block::Block() {
  for (unsigned index = 0; index < threads_run; ++index) {
    threads_[index] = std::thread([this, index] { run_thread(index); });
  }
}

Block::~Block() {
  kernel_ = nullptr;
  turns_.arrive_and_wait();
  for (std::thread& thread : threads_) thread.join();
}

void Block::run(const std::function<void()>& kernel) {
  kernel_ = &kernel;
  turns_.arrive_and_wait();
  turns_.arrive_and_wait();
}

void Block::run_thread(unsigned index) {
  block_of_thread = this;
  index_of_thread = index;
  for (;;) {
    turns_.arrive_and_wait();
    if (kernel_ == nullptr) return;
    (*kernel_)();
    turns_.arrive_and_wait();
  }
}

void* Block::shared_array(const void* identity, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::vector<std::max_align_t>& memory = shared_[identity];
  if (memory.empty()) memory.resize((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  return memory.data();
}

}  // namespace foldstep::tsan
