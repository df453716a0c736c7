#pragma once

#include <cstddef>
#include <memory>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace foldstep::simulated {

/// Where something that is not running goes on.
struct Context {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t machine;
#endif
};

/// A stack with a page behind it that faults. Stacks are kept for those who come next.
class Stack {
 public:
  Stack();
  ~Stack();
  Stack(Stack&& other) noexcept;
  Stack& operator=(Stack&&) = delete;

  /// What switches to `context` calls `entry`, which never returns. `context` stays where it is.
  void prepare(Context& context, void (*entry)()) const;

 private:
  std::byte* bytes_;
};

/// Goes on at `to`, and comes back when something switches to `from`.
void switch_context(Context& from, const Context& to);

}  // namespace foldstep::simulated
