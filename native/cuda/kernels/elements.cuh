#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device/device.cuh"
#include "numerics/bf16.hpp"

/// How kernels walk over arrays of elements: 16 bytes of each at a time where the addresses allow it.
namespace foldstep::cuda {

/// BF16 elements, read exactly and rounded when stored.
struct Bf16 {
  static constexpr int width = 2;  ///< bytes
  static FOLDSTEP_DEVICE float load(const std::byte* base, std::size_t i) {
    return numerics::bf16_to_f32(reinterpret_cast<const std::uint16_t*>(base)[i]);
  }
  static FOLDSTEP_DEVICE void store(std::byte* base, std::size_t i, float x) {
    reinterpret_cast<std::uint16_t*>(base)[i] = numerics::f32_to_bf16(x);
  }
  static FOLDSTEP_DEVICE void unpack(const Vector& v, float* x) {
    FOLDSTEP_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      x[2 * k] = numerics::bf16_to_f32(static_cast<std::uint16_t>(v.word[k]));
      x[2 * k + 1] = numerics::bf16_to_f32(static_cast<std::uint16_t>(v.word[k] >> 16));
    }
  }
  static FOLDSTEP_DEVICE Vector pack(const float* x) {
    Vector v;
    FOLDSTEP_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t upper = numerics::f32_to_bf16(x[2 * k + 1]);
      v.word[k] = upper << 16 | numerics::f32_to_bf16(x[2 * k]);
    }
    return v;
  }
};

struct F32 {
  static constexpr int width = 4;
  static FOLDSTEP_DEVICE float load(const std::byte* base, std::size_t i) {
    return reinterpret_cast<const float*>(base)[i];
  }
  static FOLDSTEP_DEVICE void store(std::byte* base, std::size_t i, float x) {
    reinterpret_cast<float*>(base)[i] = x;
  }
  static FOLDSTEP_DEVICE void unpack(const Vector& v, float* x) {
    FOLDSTEP_UNROLL(4)
    for (int k = 0; k < 4; ++k) x[k] = numerics::float_of(v.word[k]);
  }
  static FOLDSTEP_DEVICE Vector pack(const float* x) {
    Vector v;
    FOLDSTEP_UNROLL(4)
    for (int k = 0; k < 4; ++k) v.word[k] = numerics::bits_of(x[k]);
    return v;
  }
};

/// Elements in 16 bytes.
template <typename Element>
constexpr int per_vector = 16 / Element::width;

/// `Count` elements from element `i` on, which begins at a multiple of 16 bytes.
template <typename Element, int Count>
FOLDSTEP_DEVICE void load_elements(const std::byte* base, std::size_t i, float (&x)[Count]) {
  FOLDSTEP_UNROLL(Count)
  for (int k = 0; k < Count; k += per_vector<Element>) {
    Element::unpack(load_vector(base + (i + static_cast<std::size_t>(k)) * Element::width), x + k);
  }
}
template <typename Element, int Count>
FOLDSTEP_DEVICE void store_elements(std::byte* base, std::size_t i, const float (&x)[Count]) {
  FOLDSTEP_UNROLL(Count)
  for (int k = 0; k < Count; k += per_vector<Element>) {
    store_vector(base + (i + static_cast<std::size_t>(k)) * Element::width, Element::pack(x + k));
  }
}

/// Which of the first `Run` elements of the array at `address` begin at multiples of 16 bytes: bit h for
/// element h. The bits that several arrays have in common say where all of them do.
template <int Run>
FOLDSTEP_DEVICE std::uint32_t aligned_heads(const void* address, std::uint32_t width) {
  const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address));
  if (low % width != 0) return 0;
  std::uint32_t first = 1;
  for (std::uint32_t h = 16 / width; h < Run; h += 16 / width) first |= 1U << h;
  return first << ((0U - low) % 16 / width);
}

/// Elements of a pass: those before `head` and from `tail` on one by one, between them `runs` of `Run` that
/// begin at multiples of 16 bytes.
struct Split {
  std::size_t head;
  std::size_t runs;
  std::size_t tail;
  std::size_t n;
};

/// `heads`: bits as those of aligned_heads, of all arrays. Where there is none, all elements are the head.
template <int Run>
FOLDSTEP_DEVICE Split split(std::uint32_t heads, std::size_t n) {
  std::size_t head = n;
  FOLDSTEP_UNROLL(Run)
  for (int h = Run - 1; h >= 0; --h) {
    if ((heads >> h & 1U) != 0 && static_cast<std::size_t>(h) < n) head = static_cast<std::size_t>(h);
  }
  const std::size_t runs = (n - head) / Run;
  return {head, runs, head + runs * Run, n};
}

/// Threads that share a pass: this one begins with item `first` and goes on by `stride`.
struct Share {
  std::size_t first;
  std::size_t stride;
};
FOLDSTEP_DEVICE Share share_of_grid() {
  return {block_index() * std::size_t{block_threads} + thread_index(),
          block_count() * std::size_t{block_threads}};
}
FOLDSTEP_DEVICE Share share_of_block() {
  return {thread_index(), std::size_t{block_threads}};
}

/// store(i, load(i)) for the first element i of each run, `InFlight` loads before the stores; scalar(i) for
/// each of the other elements. The runs are taken from run `start` on.
template <int Run, int InFlight, typename Load, typename Store, typename Scalar>
FOLDSTEP_DEVICE void for_elements(const Share& share, const Split& split, std::size_t start, const Load& load,
                                  const Store& store, const Scalar& scalar) {
  const std::size_t others = split.head + (split.n - split.tail);
  for (std::size_t i = share.first; i < others; i += share.stride) {
    scalar(i < split.head ? i : split.tail + (i - split.head));
  }

  const auto element = [&](std::size_t run) {
    const std::size_t turned = run + start < split.runs ? run + start : run + start - split.runs;
    return split.head + turned * Run;
  };
  std::size_t run = share.first;
  for (; run + (InFlight - 1) * share.stride < split.runs; run += InFlight * share.stride) {
    decltype(load(run)) loaded[InFlight];
    FOLDSTEP_UNROLL(InFlight)
    for (int k = 0; k < InFlight; ++k) {
      loaded[k] = load(element(run + static_cast<std::size_t>(k) * share.stride));
    }
    FOLDSTEP_UNROLL(InFlight)
    for (int k = 0; k < InFlight; ++k) {
      store(element(run + static_cast<std::size_t>(k) * share.stride), loaded[k]);
    }
  }
  if constexpr (InFlight > 1) {
    for (; run < split.runs; run += share.stride) store(element(run), load(element(run)));
  }
}

}  // namespace foldstep::cuda
