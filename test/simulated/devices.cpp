#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "allocations.hpp"
#include "errors.hpp"
#include "options.hpp"
#include "stream.hpp"

namespace foldstep::simulated {
namespace {

constexpr int multiprocessors = 2;
constexpr int major = 9;
constexpr int minor = 0;
constexpr std::size_t memory_bytes = std::size_t{2} << 30;

thread_local int device_of_thread = 0;

bool exists(int device) {
  return device >= 0 && device < options().devices;
}

/// The same for all processes of one node, and others for those of another.
cudaUUID_t uuid_of(int device) {
  const char* node = std::getenv("FOLDSTEP_NODE");
  const auto hash = static_cast<unsigned>(std::hash<std::string>()(node != nullptr ? node : ""));
  char text[32];
  std::snprintf(text, sizeof text, "sim-%03d-%08x", device, hash);
  cudaUUID_t uuid;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) uuid.bytes[i] = text[i];
  return uuid;
}

}  // namespace

int current_device() {
  return device_of_thread;
}

}  // namespace foldstep::simulated

using namespace foldstep::simulated;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  *version = options().no_driver ? 0 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = options().no_driver ? 0 : options().devices;
  return remember(available());
}

cudaError_t cudaSetDevice(int device) {
  return call([&] {
    if (!exists(device)) return cudaErrorInvalidDevice;
    device_of_thread = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  *device = device_of_thread;
  return remember(available());
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&] {
    if (!exists(device)) return cudaErrorInvalidDevice;
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "Simulated device");
    properties->uuid = uuid_of(device);
    properties->totalGlobalMem = memory_bytes;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->major = major;
    properties->minor = minor;
    properties->multiProcessorCount = multiprocessors;
    properties->pciBusID = device;
    properties->unifiedAddressing = 1;
    properties->canMapHostMemory = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&] {
    if (!exists(device)) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevAttrMultiProcessorCount:
        *value = multiprocessors;
        return cudaSuccess;
      case cudaDevAttrUnifiedAddressing:
        *value = 1;
        return cudaSuccess;
      case cudaDevAttrComputeCapabilityMajor:
        *value = major;
        return cudaSuccess;
      case cudaDevAttrComputeCapabilityMinor:
        *value = minor;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&] {
    if (!exists(device) || !exists(peer)) return cudaErrorInvalidDevice;
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] {
    synchronize_all();
    return broken();
  });
}

cudaError_t cudaMemGetInfo(std::size_t* available_bytes, std::size_t* total) {
  return call([&] {
    const std::size_t used = Allocations::get().device_bytes();
    *total = memory_bytes;
    *available_bytes = used < memory_bytes ? memory_bytes - used : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return call([&] {
    // Not used + bytes: that could pass 64 bits.
    const std::size_t used = Allocations::get().device_bytes();
    if (used > memory_bytes || bytes > memory_bytes - used) return cudaErrorMemoryAllocation;
    return Allocations::get().allocate(address, bytes, Kind::Device, device_of_thread);
  });
}

cudaError_t cudaFree(void* address) {
  return call([&] {
    if (address == nullptr) return cudaSuccess;
    synchronize_all();
    const cudaError_t error = Allocations::get().release(address, Kind::Device);
    return error != cudaSuccess ? error : broken();
  });
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  return call([&] { return Allocations::get().allocate(address, bytes, Kind::Pinned, device_of_thread); });
}

cudaError_t cudaFreeHost(void* address) {
  return call([&] {
    if (address == nullptr) return cudaSuccess;
    synchronize_all();
    const cudaError_t error = Allocations::get().release(address, Kind::Pinned);
    return error != cudaSuccess ? error : broken();
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return call([&] {
    const auto found = allocation_of(address);
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, nullptr};
    if (!found) {
      attributes->hostPointer = const_cast<void*>(address);
      return cudaSuccess;
    }
    attributes->type = found->kind == Kind::Pinned ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    attributes->device = found->device;
    attributes->devicePointer = const_cast<void*>(address);
    if (found->kind == Kind::Pinned) attributes->hostPointer = const_cast<void*>(address);
    return cudaSuccess;
  });
}

}  // extern "C"
