#include <cuda_runtime_api.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "cuda/comm/nccl.hpp"
#include "cuda/context.hpp"
#include "cuda/cuda_backend.hpp"
#include "cuda/versions.hpp"
#include "cuda/window/window_registry.hpp"
#include "runtime/backend_plugin.hpp"

namespace foldstep::cuda {

namespace {

std::shared_ptr<Backend> create(const BackendOptions& options, std::shared_ptr<Backend> host) {
  return std::make_shared<CudaBackend>(options, std::move(host));
}

std::string text_of(const cudaDeviceProp& device) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return std::string(device.name) + ", " + std::to_string(device.totalGlobalMem / mebibyte) +
         " MiB, compute capability " + std::to_string(device.major) + "." + std::to_string(device.minor) +
         ", " + uuid_text(device.uuid);
}

void add_devices(Facts& facts) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) {
    cudaGetLastError();
    std::string what = cudaGetErrorString(result);
    if (result == cudaErrorInsufficientDriver) {
      what += "; install an NVIDIA driver for CUDA " + runtime_version() +
              " or later, or start the container with "
              "its devices (docker run --gpus all)";
    }
    facts.emplace_back("devices", "none: " + what);
    return;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp device{};
    const cudaError_t asked = cudaGetDeviceProperties(&device, i);
    if (asked != cudaSuccess) cudaGetLastError();
    facts.emplace_back("device " + std::to_string(i),
                       asked == cudaSuccess ? text_of(device) : cudaGetErrorString(asked));
  }
}

void leave() {
  WindowRegistry::get().leave_all();
}

Facts probe() {
  Facts facts{{"driver", driver_version()},
              {"runtime", runtime_version()},
              {"compiled architectures", FOLDSTEP_CUDA_ARCHITECTURE_LIST}};
  add_devices(facts);
  facts.emplace_back("nccl", find_nccl().text);
  return facts;
}

/// Before the first call of CUDA, which reads these.
BackendPlugin prepare() {
  // A kernel that is loaded at its first start may wait for those that run, and these may wait for other
  // ranks.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  // Streams that share a queue of the device would wait for a kernel that waits for other ranks.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  return {&create, &probe, &leave};
}

}  // namespace

}  // namespace foldstep::cuda

extern "C" __attribute__((visibility("default"))) const foldstep::BackendPlugin& foldstep_backend_plugin() {
  static const foldstep::BackendPlugin plugin = foldstep::cuda::prepare();
  return plugin;
}
