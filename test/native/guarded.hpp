#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <new>

/// Some pages with an inaccessible one before and after. What is placed in them is surrounded by a known
/// byte.
class Guarded {
 public:
  static constexpr std::size_t page = 4096;

  explicit Guarded(std::size_t pages = 1) : room_(pages * page) {
    void* const mapped = mmap(nullptr, room_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<std::byte*>(mapped);
    mprotect(begin(), room_, PROT_READ | PROT_WRITE);
  }
  ~Guarded() { munmap(mapped_, room_ + 2 * page); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// `bytes` copied from `content` to `gap` bytes after the guard page in front, or before the one behind.
  std::byte* place(const void* content, std::size_t bytes, std::size_t gap, bool at_end) {
    placed_ = at_end ? begin() + room_ - gap - bytes : begin() + gap;
    bytes_ = bytes;
    std::memset(begin(), filler, room_);
    if (bytes > 0) std::memcpy(placed_, content, bytes);
    return placed_;
  }

  bool holds(const void* expected) const {
    return bytes_ == 0 || std::memcmp(placed_, expected, bytes_) == 0;
  }

  bool surroundings_untouched() const {
    const std::byte* const behind = placed_ + bytes_;
    return is_filler(begin(), placed_) && is_filler(behind, begin() + room_);
  }

 private:
  static constexpr unsigned char filler = 0xa5;

  std::byte* begin() const { return mapped_ + page; }

  static bool is_filler(const std::byte* from, const std::byte* to) {
    // Every byte is the first one and equals its neighbour.
    return from == to || (*from == std::byte{filler} && std::memcmp(from, from + 1, to - from - 1) == 0);
  }

  std::byte* mapped_ = nullptr;
  std::byte* placed_ = nullptr;
  std::size_t room_;
  std::size_t bytes_ = 0;
};
