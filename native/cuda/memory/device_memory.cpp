#include "cuda/memory/device_memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cuda/errors.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

void require_own(const Context& context, const void* address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, address), "looking up an address");
  const bool on_device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  if (on_device && attributes.device == context.device) return;
  throw Error(Code::InvalidArgument,
              on_device ? "the memory is on device " + std::to_string(attributes.device) +
                              ", but this rank computes on device " + std::to_string(context.device)
                        : "the address is not one of CUDA device memory; give what cudaMalloc has returned");
}

}  // namespace

std::shared_ptr<DeviceMemory> DeviceMemory::allocate(std::shared_ptr<Context> context, std::size_t bytes) {
  return allocate(std::move(context), bytes, [](std::byte* block) { cudaFree(block); });
}

std::shared_ptr<DeviceMemory> DeviceMemory::allocate(std::shared_ptr<Context> context, std::size_t bytes,
                                                     std::function<void(std::byte*)> free) {
  context->use();
  void* address = nullptr;
  // An empty block still has an address of its own.
  const std::size_t allocated = std::max<std::size_t>(bytes, 1);
  cudaError_t result = cudaMalloc(&address, allocated);
  if (result == cudaErrorMemoryAllocation && context->finish_frees()) {
    cudaGetLastError();
    result = cudaMalloc(&address, allocated);
  }
  check(result, "allocating " + std::to_string(bytes) + " bytes");
  context->allocator.look();
  const std::shared_ptr<std::byte> owner(static_cast<std::byte*>(address),
                                         [context, free = std::move(free)](std::byte* block) {
                                           Context::free_later(context, [block, free] { free(block); });
                                         });
  context->side_stream.zero(address, bytes);
  return std::make_shared<DeviceMemory>(std::move(context), owner.get(), bytes, owner);
}

std::shared_ptr<DeviceMemory> DeviceMemory::wrap(std::shared_ptr<Context> context, std::byte* address,
                                                 std::size_t bytes) {
  context->use();
  if (bytes > 0) {
    require_own(*context, address);
    require_own(*context, address + (bytes - 1));
  }
  return std::make_shared<DeviceMemory>(std::move(context), address, bytes, nullptr);
}

void DeviceMemory::read(std::size_t offset, void* target, std::size_t count) const {
  context_->use();
  context_->side_stream.copy(target, address_ + offset, count);
}

void DeviceMemory::write(std::size_t offset, const void* source, std::size_t count) {
  context_->use();
  context_->side_stream.copy(address_ + offset, source, count);
}

}  // namespace foldstep::cuda
