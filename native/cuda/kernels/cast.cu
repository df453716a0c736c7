#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launch.cuh"

namespace foldstep::cuda {

namespace {

/// Elements of one step of a thread.
constexpr int run = 8;

template <typename From, typename To>
FOLDSTEP_KERNEL(block_threads, resident_blocks)
cast_kernel(const std::byte* source, std::byte* target, std::size_t n, const Status* status) {
  if (has_failed(status)) return;
  struct Loaded {
    float x[run];
  };
  for_elements<run, 2>(
      share_of_grid(),
      split<run>(aligned_heads<run>(source, From::width) & aligned_heads<run>(target, To::width), n), 0,
      [=](std::size_t i) {
        Loaded loaded;
        load_elements<From>(source, i, loaded.x);
        return loaded;
      },
      [=](std::size_t i, const Loaded& loaded) { store_elements<To>(target, i, loaded.x); },
      [=](std::size_t i) { To::store(target, i, From::load(source, i)); });
}

template <typename From, typename To>
void start_cast(const Launch& launch, const void* source, void* target, std::size_t n) {
  if (n == 0) return;
  start_or_throw("cast", cast_kernel<From, To>, launch, blocks_for(launch, n / run),
                 static_cast<const std::byte*>(source), static_cast<std::byte*>(target), n);
}

}  // namespace

void cast(const Launch& launch, const std::uint16_t* source, float* target, std::size_t n) {
  start_cast<Bf16, F32>(launch, source, target, n);
}

void cast(const Launch& launch, const float* source, std::uint16_t* target, std::size_t n) {
  start_cast<F32, Bf16>(launch, source, target, n);
}

}  // namespace foldstep::cuda
