#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "cuda/context.hpp"
#include "runtime/memory.hpp"

namespace foldstep::cuda {

/// A block of the device's memory, or a part of one.
class DeviceMemory final : public Memory {
 public:
  /// Of cudaMalloc, so that other processes can open it; zeroed. Errors: Code::OutOfMemory.
  static std::shared_ptr<DeviceMemory> allocate(std::shared_ptr<Context> context, std::size_t bytes);
  /// The same, but what is done with it in the end, on the thread of Context::free_later, is `free`.
  static std::shared_ptr<DeviceMemory> allocate(std::shared_ptr<Context> context, std::size_t bytes,
                                                std::function<void(std::byte*)> free);
  /// Errors: Code::InvalidArgument if it is not memory of this device.
  static std::shared_ptr<DeviceMemory> wrap(std::shared_ptr<Context> context, std::byte* address,
                                            std::size_t bytes);
  /// `owner` keeps the memory at `address`.
  DeviceMemory(std::shared_ptr<Context> context, std::byte* address, std::size_t bytes,
               std::shared_ptr<const void> owner)
      : context_(std::move(context)), owner_(std::move(owner)), address_(address), bytes_(bytes) {}

  std::byte* data() const override { return address_; }
  std::size_t bytes() const override { return bytes_; }
  bool host_accessible() const override { return false; }
  void read(std::size_t offset, void* target, std::size_t count) const override;
  void write(std::size_t offset, const void* source, std::size_t count) override;

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<const void> owner_;
  std::byte* address_;
  std::size_t bytes_;
};

}  // namespace foldstep::cuda
