#include "cpu/scratch.hpp"

#include <utility>

#include "cpu/host_memory.hpp"

namespace foldstep::cpu {

std::shared_ptr<std::byte[]> Scratch::take(std::size_t bytes) {
  if (bytes > kept_bytes) {
    auto block = std::make_shared<HostMemory>(bytes);
    std::byte* const data = block->data();
    return {data, [block = std::move(block)](std::byte*) {}};
  }
  std::shared_ptr<HostMemory> block;
  {
    const std::lock_guard lock(spare_->mutex);
    block = std::exchange(spare_->block, nullptr);
  }
  if (!block) block = std::make_shared<HostMemory>(kept_bytes);
  std::byte* const data = block->data();
  return {data, [spare = spare_, block = std::move(block)](std::byte*) mutable {
            const std::lock_guard lock(spare->mutex);
            spare->block = std::move(block);
          }};
}

}  // namespace foldstep::cpu
