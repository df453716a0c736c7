#pragma once

#include <cstdint>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace foldstep::cpu {

/// For its lifetime this thread rounds to nearest, keeps subnormals and raises no floating-point signal; then
/// the caller's modes are back. Always inlined, for it is compiled under several instruction sets.
class FpMode {
 public:
  [[gnu::always_inline]] FpMode() { set(keeping_subnormals(saved_ = get())); }
  [[gnu::always_inline]] ~FpMode() { set(saved_); }
  FpMode(const FpMode&) = delete;
  FpMode& operator=(const FpMode&) = delete;

 private:
#if defined(__x86_64__)
  using Mode = std::uint32_t;
  // The memory clobbers keep the arithmetic between the two writes.
  [[gnu::always_inline]] static Mode get() {
    Mode mode;
    asm volatile("stmxcsr %0" : "=m"(mode)::"memory");
    return mode;
  }
  [[gnu::always_inline]] static void set(Mode mode) {
    asm volatile("ldmxcsr %0" ::"m"(mode) : "memory");
  }
  [[gnu::always_inline]] static Mode keeping_subnormals(Mode mode) {
    constexpr Mode flush_to_zero = 0x8000;
    constexpr Mode rounding = 0x6000;
    constexpr Mode masks = 0x1f80;
    constexpr Mode subnormals_are_zero = 0x0040;
    return (mode & ~(flush_to_zero | rounding | subnormals_are_zero)) | masks;
  }
#elif defined(__aarch64__)
  using Mode = std::uint64_t;
  [[gnu::always_inline]] static Mode get() {
    Mode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode)::"memory");
    return mode;
  }
  [[gnu::always_inline]] static void set(Mode mode) {
    asm volatile("msr fpcr, %0" ::"r"(mode) : "memory");
  }
  [[gnu::always_inline]] static Mode keeping_subnormals(Mode) {
    return 0;
  }
#else
  using Mode = std::fenv_t;
  static Mode get() {
    Mode mode;
    std::fegetenv(&mode);
    return mode;
  }
  static void set(const Mode& mode) {
    std::fesetenv(&mode);
  }
  static Mode keeping_subnormals(const Mode&) {
    std::fesetenv(FE_DFL_ENV);
    return get();
  }
#endif

  Mode saved_;
};

}  // namespace foldstep::cpu
