#include "cuda/stream/status_slots.hpp"

#include <new>

namespace foldstep::cuda {

StatusSlots::Slot StatusSlots::take() {
  constexpr std::size_t per_block = 32;
  const std::lock_guard lock(pool_->mutex);
  if (pool_->free.empty()) {
    pool_->blocks.push_back(std::make_shared<PinnedMemory>(per_block * sizeof(Status)));
    std::byte* const block = pool_->blocks.back()->data();
    for (std::size_t i = 0; i < per_block; ++i)
      pool_->free.push_back(new (block + i * sizeof(Status)) Status);
  }
  Status* const slot = pool_->free.back();
  pool_->free.pop_back();
  return {slot, [pool = pool_](Status* used) {
            const std::lock_guard lock(pool->mutex);
            pool->free.push_back(used);
          }};
}

}  // namespace foldstep::cuda
