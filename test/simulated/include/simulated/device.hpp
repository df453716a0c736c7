#pragma once

/// Stands in for native/cuda/device/device.cuh: the same names, with a block's threads as fibers of the
/// thread that runs the stream.

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <tuple>
#include <type_traits>

#define FOLDSTEP_KERNEL(threads, blocks) void
#define FOLDSTEP_DEVICE inline
#define FOLDSTEP_PARAMETER const
#define FOLDSTEP_SHARED(type, name, count)                                     \
  static char name##_identity;                                                 \
  type(&name)[count] = *static_cast<std::remove_reference_t<decltype(name)>*>( \
      ::foldstep::simulated::shared_array(&name##_identity, sizeof(type) * (count)))
#define FOLDSTEP_UNROLL(count)

namespace foldstep::simulated {

using Site = std::source_location;

/// What device.hpp's functions ask of the thread that calls them.
unsigned thread_index();
unsigned block_index();
unsigned block_count();
std::uint64_t nanoseconds();
void* shared_array(const void* identity, std::size_t bytes);
void barrier(Site site);
std::uint64_t exchange(std::uint64_t bits, int mask, Site site);
void pause(Site site);
void load(void* value, const void* at, std::size_t bytes, Site site);
void store(void* at, const void* value, std::size_t bytes, Site site);
std::uint32_t load_word(const std::uint32_t* at, bool acquire, Site site);
void store_word(std::uint32_t* at, std::uint32_t value, bool release, Site site);

cudaError_t start(unsigned blocks, cudaStream_t stream, std::function<void()> thread, Site site);

/// Remembers where the caller is.
struct BlockCount {
  BlockCount(unsigned blocks, Site where = Site::current()) : count(blocks), site(where) {}
  unsigned count;
  Site site;
};

}  // namespace foldstep::simulated

namespace foldstep::cuda {

constexpr int warp_threads = 32;
constexpr int block_threads = 64;

inline unsigned thread_index() {
  return simulated::thread_index();
}
inline unsigned block_index() {
  return simulated::block_index();
}
inline unsigned block_count() {
  return simulated::block_count();
}

inline void block_barrier(simulated::Site site = simulated::Site::current()) {
  simulated::barrier(site);
}

template <typename T>
T warp_exchange(T value, int mask, simulated::Site site = simulated::Site::current()) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<T>(static_cast<Bits>(simulated::exchange(std::bit_cast<Bits>(value), mask, site)));
}

struct alignas(16) Vector {
  std::uint32_t word[4];
};

inline Vector load_vector(const void* at, simulated::Site site = simulated::Site::current()) {
  Vector value;
  simulated::load(&value, at, sizeof(value), site);
  return value;
}
inline void store_vector(void* at, const Vector& value, simulated::Site site = simulated::Site::current()) {
  simulated::store(at, &value, sizeof(value), site);
}

inline void store_release_system(std::uint32_t* at, std::uint32_t value,
                                 simulated::Site site = simulated::Site::current()) {
  simulated::store_word(at, value, true, site);
}
inline std::uint32_t load_acquire_system(const std::uint32_t* at,
                                         simulated::Site site = simulated::Site::current()) {
  return simulated::load_word(at, true, site);
}
inline void store_relaxed_system(std::uint32_t* at, std::uint32_t value,
                                 simulated::Site site = simulated::Site::current()) {
  simulated::store_word(at, value, false, site);
}
inline std::uint32_t load_relaxed_system(const std::uint32_t* at,
                                         simulated::Site site = simulated::Site::current()) {
  return simulated::load_word(at, false, site);
}

inline std::uint64_t nanoseconds() {
  return simulated::nanoseconds();
}
inline void pause(simulated::Site site = simulated::Site::current()) {
  simulated::pause(site);
}

template <typename... Parameters, typename... Arguments>
cudaError_t start(void (*kernel)(Parameters...), simulated::BlockCount blocks, cudaStream_t stream,
                  const Arguments&... arguments) {
  // A launch copies its arguments at once.
  const std::tuple<std::decay_t<Parameters>...> copies{arguments...};
  return simulated::start(
      blocks.count, stream, [kernel, copies] { std::apply(kernel, copies); }, blocks.site);
}

}  // namespace foldstep::cuda
