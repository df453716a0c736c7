#pragma once

#include "runtime/memory.hpp"

namespace foldstep {

/// Host memory that somebody else owns.
class ForeignMemory final : public Memory {
 public:
  ForeignMemory(std::byte* address, std::size_t bytes) : address_(address), bytes_(bytes) {}
  std::byte* data() const override { return address_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::byte* address_;
  std::size_t bytes_;
};

}  // namespace foldstep
