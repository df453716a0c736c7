#pragma once

/// All that kernel bodies use of CUDA beyond plain C++, and all that starts them. A simulation of it on the
/// host stands in its place where FOLDSTEP_SIMULATED is defined.
#if defined(FOLDSTEP_SIMULATED)
#include "simulated/device.hpp"
#else

#include <cuda_runtime.h>

#include <cstdint>

/// Before a kernel's name, for blocks of at most `threads` of which `blocks` are to fit on a multiprocessor.
#define FOLDSTEP_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
#define FOLDSTEP_DEVICE __device__ __forceinline__
/// A kernel's structure parameter that may be indexed: it stays where it was passed.
#define FOLDSTEP_PARAMETER const __grid_constant__
/// An array that the threads of a block share.
#define FOLDSTEP_SHARED(type, name, count) __shared__ type name[count]
/// Before a loop, of whose body so many copies are to follow each other.
#define FOLDSTEP_UNROLL(count) FOLDSTEP_PRAGMA(unroll count)
#define FOLDSTEP_PRAGMA(text) _Pragma(#text)

namespace foldstep::cuda {

constexpr int warp_threads = 32;
/// Of every kernel's blocks.
constexpr int block_threads = 256;

FOLDSTEP_DEVICE unsigned thread_index() {
  return threadIdx.x;
}
FOLDSTEP_DEVICE unsigned block_index() {
  return blockIdx.x;
}
FOLDSTEP_DEVICE unsigned block_count() {
  return gridDim.x;
}

/// All threads of the block have come here; what they wrote to shared and global memory is seen by each
/// other.
FOLDSTEP_DEVICE void block_barrier() {
  __syncthreads();
}

/// `value` of the thread whose place in the warp differs by `mask`; every thread of the warp takes part.
template <typename T>
FOLDSTEP_DEVICE T warp_exchange(T value, int mask) {
  return __shfl_xor_sync(0xffff'ffffU, value, mask);
}

struct alignas(16) Vector {
  std::uint32_t word[4];
};

/// 16 bytes of global memory at an address that is a multiple of 16, as one access.
FOLDSTEP_DEVICE Vector load_vector(const void* at) {
  __builtin_assume(__isGlobal(at));
  const uint4 v = *static_cast<const uint4*>(at);
  return {{v.x, v.y, v.z, v.w}};
}
FOLDSTEP_DEVICE void store_vector(void* at, const Vector& v) {
  __builtin_assume(__isGlobal(at));
  *static_cast<uint4*>(at) = make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]);
}

/// Words that ranks signal each other by: seen by every processor and device of the system.
FOLDSTEP_DEVICE void store_release_system(std::uint32_t* at, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
FOLDSTEP_DEVICE std::uint32_t load_acquire_system(const std::uint32_t* at) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
FOLDSTEP_DEVICE void store_relaxed_system(std::uint32_t* at, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
FOLDSTEP_DEVICE std::uint32_t load_relaxed_system(const std::uint32_t* at) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

/// Of a clock that never goes back.
FOLDSTEP_DEVICE std::uint64_t nanoseconds() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(value));
  return value;
}
/// Leaves the processor to others for a moment.
FOLDSTEP_DEVICE void pause() {
  __nanosleep(100);
}

/// Starts a kernel of `blocks` blocks of `block_threads` threads. Gives the error of the start.
template <typename... Parameters, typename... Arguments>
cudaError_t start(void (*kernel)(Parameters...), unsigned blocks, cudaStream_t stream,
                  const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = block_threads;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace foldstep::cuda

#endif
