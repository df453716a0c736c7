#pragma once

#include <cstddef>

#include "runtime/memory.hpp"

namespace foldstep::cuda {

/// Host memory that the device reaches at the same address: zeroed, page-aligned.
class PinnedMemory final : public Memory {
 public:
  /// Errors: Code::OutOfMemory. The calling thread has chosen the device.
  explicit PinnedMemory(std::size_t bytes);
  ~PinnedMemory() override;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  std::size_t bytes() const override { return bytes_; }
  std::byte* data() const override { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace foldstep::cuda
