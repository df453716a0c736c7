#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "random.hpp"

namespace foldstep::simulated {

/// Stores that have been made and that nobody else sees yet. They leave in any order, but for those to one
/// place.
class StoreBuffer {
 public:
  bool empty() const { return stores_.empty(); }
  /// At most 16 bytes.
  void add(void* at, const void* value, std::size_t bytes);
  /// Takes over what `other` holds.
  void append(StoreBuffer& other);
  void drain_one(Random& random);
  void drain(Random& random);

 private:
  struct Store {
    std::byte* at;
    std::size_t bytes;
    std::array<std::byte, 16> value;

    bool overlaps(const Store& other) const { return at < other.at + other.bytes && other.at < at + bytes; }
  };
  std::vector<Store> stores_;
};

/// Makes a store that others see at once; a word is never seen in part.
void store_now(void* at, const void* value, std::size_t bytes);

}  // namespace foldstep::simulated
