#pragma once

#include "cuda/device/device.cuh"
#include "cuda/kernels/kernels.hpp"

namespace foldstep::cuda {

FOLDSTEP_DEVICE std::byte* address_of(const Place& place) {
  return place.offset == nullptr ? place.base : place.base + *place.offset;
}

/// Writes the addresses of `count` places to memory that the block shares. They are there for all of its
/// threads after the next block_barrier.
FOLDSTEP_DEVICE void resolve(const Place* places, int count, std::byte** addresses) {
  static_assert(max_members <= block_threads);
  const auto i = static_cast<int>(thread_index());
  if (i < count) addresses[i] = address_of(places[i]);
}

}  // namespace foldstep::cuda
