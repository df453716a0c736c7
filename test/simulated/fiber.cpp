#include "fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace foldstep::simulated {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t stack_bytes = 128 << 10;

struct Pool {
  std::mutex mutex;
  std::vector<std::byte*> stacks;

  static Pool& get() {
    static auto& pool = *new Pool;
    return pool;
  }
};

std::byte* map_stack() {
  void* bytes = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (bytes == MAP_FAILED) throw std::bad_alloc();
  mprotect(bytes, page_bytes, PROT_NONE);
  return static_cast<std::byte*>(bytes);
}

}  // namespace

Stack::Stack() {
  Pool& pool = Pool::get();
  const std::lock_guard lock(pool.mutex);
  if (pool.stacks.empty()) {
    bytes_ = map_stack();
  } else {
    bytes_ = pool.stacks.back();
    pool.stacks.pop_back();
  }
}

Stack::Stack(Stack&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)) {}

Stack::~Stack() {
  if (bytes_ == nullptr) return;
  Pool& pool = Pool::get();
  const std::lock_guard lock(pool.mutex);
  pool.stacks.push_back(bytes_);
}

#if defined(__x86_64__)

// Saves what the calling convention asks a function to keep, and where it was called from.
extern "C" void foldstep_simulated_switch(void** from, void* to);
asm(R"(
.text
.p2align 4
.hidden foldstep_simulated_switch
.globl foldstep_simulated_switch
.type foldstep_simulated_switch, @function
foldstep_simulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size foldstep_simulated_switch, .-foldstep_simulated_switch
)");

void Stack::prepare(Context& context, void (*entry)()) const {
#if defined(__SANITIZE_ADDRESS__)
  // The frames of who had the stack before have not all returned.
  ASAN_UNPOISON_MEMORY_REGION(bytes_ + page_bytes, stack_bytes - page_bytes);
#endif
  // Six registers, the address to return to, and one word that keeps the alignment a call would give.
  constexpr std::size_t words = 8;
  auto* top = reinterpret_cast<std::uintptr_t*>(bytes_ + stack_bytes) - words;
  std::memset(top, 0, words * sizeof(*top));
  top[6] = reinterpret_cast<std::uintptr_t>(entry);
  context.stack_pointer = top;
}

void switch_context(Context& from, const Context& to) {
  foldstep_simulated_switch(&from.stack_pointer, to.stack_pointer);
}

#else

void Stack::prepare(Context& context, void (*entry)()) const {
  getcontext(&context.machine);
  context.machine.uc_stack.ss_sp = bytes_ + page_bytes;
  context.machine.uc_stack.ss_size = stack_bytes - page_bytes;
  context.machine.uc_link = nullptr;
  makecontext(&context.machine, entry, 0);
}

void switch_context(Context& from, const Context& to) {
  swapcontext(&from.machine, &to.machine);
}

#endif

}  // namespace foldstep::simulated
