#pragma once

#include <cstddef>
#include <memory>

#include "runtime/memory.hpp"

namespace foldstep::cpu {

/// Private memory of this process: zeroed, page-aligned, given back to the system when the last holder lets
/// go.
class HostMemory final : public Memory {
 public:
  /// Errors: Code::OutOfMemory.
  explicit HostMemory(std::size_t bytes);
  ~HostMemory() override;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  std::byte* data() const override { return data_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace foldstep::cpu
