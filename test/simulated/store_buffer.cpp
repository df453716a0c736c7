#include "store_buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace foldstep::simulated {

void store_now(void* at, const void* value, std::size_t bytes) {
  auto* words = static_cast<std::uint32_t*>(at);
  for (std::size_t i = 0; i < bytes / sizeof(*words); ++i) {
    std::uint32_t word;
    std::memcpy(&word, static_cast<const std::byte*>(value) + i * sizeof(word), sizeof(word));
    __atomic_store_n(words + i, word, __ATOMIC_RELAXED);
  }
}

void StoreBuffer::add(void* at, const void* value, std::size_t bytes) {
  Store& store = stores_.emplace_back(Store{static_cast<std::byte*>(at), bytes, {}});
  std::memcpy(store.value.data(), value, bytes);
}

void StoreBuffer::append(StoreBuffer& other) {
  stores_.insert(stores_.end(), other.stores_.begin(), other.stores_.end());
  other.stores_.clear();
}

void StoreBuffer::drain_one(Random& random) {
  const Store& chosen = stores_[random.below(stores_.size())];
  const auto first = std::find_if(stores_.begin(), stores_.end(),
                                  [&](const Store& store) { return store.overlaps(chosen); });
  store_now(first->at, first->value.data(), first->bytes);
  stores_.erase(first);
}

void StoreBuffer::drain(Random& random) {
  while (!stores_.empty()) drain_one(random);
}

}  // namespace foldstep::simulated
