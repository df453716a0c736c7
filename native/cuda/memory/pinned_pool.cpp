#include "cuda/memory/pinned_pool.hpp"

#include <utility>

#include "cuda/memory/pinned_memory.hpp"

namespace foldstep::cuda {

std::shared_ptr<PinnedMemory> PinnedPool::take(Ledger& ledger, std::size_t bytes) {
  std::shared_ptr<PinnedMemory> block;
  const bool kept = bytes <= kept_bytes;
  if (kept) {
    const std::lock_guard lock(spare_->mutex);
    block = std::exchange(spare_->block, nullptr);
  }
  if (!block) block = std::make_shared<PinnedMemory>(kept ? kept_bytes : bytes);
  // What is handed out is a second owner of the block, with the entry beside it.
  struct Loan {
    std::shared_ptr<Spare> spare;
    std::shared_ptr<PinnedMemory> block;
    Ledger::Entry entry;
    ~Loan() {
      if (!spare) return;
      const std::lock_guard lock(spare->mutex);
      spare->block = std::move(block);
    }
  };
  PinnedMemory* const memory = block.get();
  auto loan = std::make_shared<Loan>();
  loan->spare = kept ? spare_ : nullptr;
  loan->block = std::move(block);
  loan->entry = Ledger::Entry(ledger, bytes);
  return {std::move(loan), memory};
}

}  // namespace foldstep::cuda
