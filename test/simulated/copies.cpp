#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "errors.hpp"
#include "memory.hpp"
#include "stream.hpp"

namespace foldstep::simulated {
namespace {

/// One end of a copy.
struct End {
  bool device = false;
  bool pageable = false;
  bool fits = true;
};

End end_of(const void* address, std::size_t bytes) {
  const auto allocation = allocation_of(address);
  if (!allocation) return {false, true, true};
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - allocation->data);
  return {allocation->kind != Kind::Pinned, false, bytes <= allocation->bytes - offset};
}

cudaError_t check(const End& target, const End& source, cudaMemcpyKind kind) {
  bool right = false;
  switch (kind) {
    case cudaMemcpyHostToHost:
      right = !target.device && !source.device;
      break;
    case cudaMemcpyHostToDevice:
      right = target.device && !source.device;
      break;
    case cudaMemcpyDeviceToHost:
      right = !target.device && source.device;
      break;
    case cudaMemcpyDeviceToDevice:
      right = target.device && source.device;
      break;
    case cudaMemcpyDefault:
      right = true;
      break;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
  return right && target.fits && source.fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t copy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const End to = end_of(target, bytes);
  const End from = end_of(source, bytes);
  const cudaError_t error = check(to, from, kind);
  if (error != cudaSuccess) return error;
  if (to.device && from.pageable) {
    // The runtime takes pageable memory into a buffer of its own before it returns.
    const auto* first = static_cast<const std::byte*>(source);
    const auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    return enqueue(stream, [target, staged] {
      const DeviceAccess access;
      std::memcpy(target, staged->data(), staged->size());
    });
  }
  const cudaError_t enqueued = enqueue(stream, [target, source, bytes] {
    const DeviceAccess access;
    std::memmove(target, source, bytes);
  });
  const bool waits = to.pageable || (!to.device && !from.device);
  return enqueued == cudaSuccess && waits ? synchronize(stream) : enqueued;
}

cudaError_t set(void* target, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const End to = end_of(target, bytes);
  if (to.pageable || !to.fits) return cudaErrorInvalidValue;
  return enqueue(stream, [target, value, bytes] {
    const DeviceAccess access;
    std::memset(target, value, bytes);
  });
}

}  // namespace
}  // namespace foldstep::simulated

using namespace foldstep::simulated;

extern "C" {

cudaError_t cudaMemcpy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  return call([&] { return copy(target, source, bytes, kind, nullptr); });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&] { return copy(target, source, bytes, kind, stream); });
}

cudaError_t cudaMemset(void* target, int value, std::size_t bytes) {
  return call([&] { return set(target, value, bytes, nullptr); });
}

cudaError_t cudaMemsetAsync(void* target, int value, std::size_t bytes, cudaStream_t stream) {
  return call([&] { return set(target, value, bytes, stream); });
}

}  // extern "C"
