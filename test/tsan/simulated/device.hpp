#pragma once

/// Stands in for native/cuda/device/device.cuh where ThreadSanitizer looks on: a kernel's threads are
/// threads, and the words by which ranks signal each other are atomics of the very orders that they have on a
/// device.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

#include "block.hpp"
#include "fault.hpp"

#define FOLDSTEP_KERNEL(threads, blocks) void
#define FOLDSTEP_DEVICE inline
#define FOLDSTEP_PARAMETER const
#define FOLDSTEP_SHARED(type, name, count)                                     \
  static char name##_identity;                                                 \
  type(&name)[count] = *static_cast<std::remove_reference_t<decltype(name)>*>( \
      ::foldstep::tsan::Block::current().shared_array(&name##_identity, sizeof(type) * (count)))
#define FOLDSTEP_UNROLL(count)

struct CUstream_st {
  foldstep::tsan::Block block;
};

namespace foldstep::cuda {

/// What kernels take a block for. It runs on `tsan::threads_run` threads: no test has more members than
/// those, and the other threads of a block do nothing in what is tested.
constexpr int block_threads = 64;

inline unsigned thread_index() {
  return tsan::thread_index();
}
inline unsigned block_index() {
  return 0;
}
inline unsigned block_count() {
  return 1;
}

inline void block_barrier() {
  tsan::Block::current().barrier();
}

inline void store_relaxed_system(std::uint32_t* at, std::uint32_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELAXED);
}
inline std::uint32_t load_relaxed_system(const std::uint32_t* at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}
inline void store_release_system(std::uint32_t* at, std::uint32_t value) {
  if (tsan::fault == tsan::Fault::RelaxedRelease) return store_relaxed_system(at, value);
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}
inline std::uint32_t load_acquire_system(const std::uint32_t* at) {
  if (tsan::fault == tsan::Fault::RelaxedAcquire) return load_relaxed_system(at);
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

inline std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}
inline void pause() {
  // Long enough for whoever is waited for to run, where there are fewer processors than threads.
  std::this_thread::sleep_for(std::chrono::microseconds(20));
}

/// Runs a kernel as one block to its end, on the threads that are the stream.
template <typename... Parameters, typename... Arguments>
cudaError_t start(void (*kernel)(Parameters...), unsigned, cudaStream_t stream,
                  const Arguments&... arguments) {
  stream->block.run([&] { kernel(arguments...); });
  return cudaSuccess;
}

}  // namespace foldstep::cuda
