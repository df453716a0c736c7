#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launch.cuh"
#include "cuda/kernels/places.cuh"

namespace foldstep::cuda {

namespace {

/// Bytes of one access.
constexpr int run = 16;

FOLDSTEP_KERNEL(block_threads, resident_blocks)
copy_kernel(Place from, std::byte* target, std::size_t bytes, const Status* status) {
  if (has_failed(status)) return;
  const std::byte* const source = address_of(from);
  for_elements<run, 4>(
      share_of_grid(), split<run>(aligned_heads<run>(source, 1) & aligned_heads<run>(target, 1), bytes), 0,
      [=](std::size_t i) { return load_vector(source + i); },
      [=](std::size_t i, const Vector& v) { store_vector(target + i, v); },
      [=](std::size_t i) { target[i] = source[i]; });
}

FOLDSTEP_KERNEL(block_threads, resident_blocks)
zero_kernel(std::byte* target, std::size_t bytes, const Status* status) {
  if (has_failed(status)) return;
  for_elements<run, 1>(
      share_of_grid(), split<run>(aligned_heads<run>(target, 1), bytes), 0,
      [](std::size_t) { return Vector{}; },
      [=](std::size_t i, const Vector& v) { store_vector(target + i, v); },
      [=](std::size_t i) { target[i] = std::byte{0}; });
}

}  // namespace

void copy(const Launch& launch, Place source, void* target, std::size_t bytes) {
  if (bytes == 0) return;
  start_or_throw("copy", copy_kernel, launch, blocks_for(launch, bytes / run), source,
                 static_cast<std::byte*>(target), bytes);
}

void zero(const Launch& launch, void* target, std::size_t bytes) {
  if (bytes == 0) return;
  start_or_throw("zero", zero_kernel, launch, blocks_for(launch, bytes / run),
                 static_cast<std::byte*>(target), bytes);
}

}  // namespace foldstep::cuda
