#pragma once

#include <unistd.h>

#include <utility>

namespace foldstep::launch {

/// A file descriptor and its only owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close() {
    if (open()) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace foldstep::launch
