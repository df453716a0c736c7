#include "errors.hpp"

#include <atomic>
#include <cstdio>
#include <utility>

#include "options.hpp"

namespace foldstep::simulated {
namespace {

std::atomic<cudaError_t> sticky{cudaSuccess};
thread_local cudaError_t last = cudaSuccess;

struct Text {
  cudaError_t error;
  const char* name;
  const char* text;
};
constexpr Text texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorMapBufferObjectFailed, "cudaErrorMapBufferObjectFailed", "mapping of buffer object failed"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

const Text* find(cudaError_t error) {
  for (const Text& text : texts) {
    if (text.error == error) return &text;
  }
  return nullptr;
}

}  // namespace

void break_device(cudaError_t error, const std::string& why) {
  std::fprintf(stderr, "simulated device of rank %d: %s\n", options().rank, why.c_str());
  cudaError_t none = cudaSuccess;
  sticky.compare_exchange_strong(none, error);
}

cudaError_t broken() {
  return sticky;
}

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

cudaError_t available() {
  if (options().no_driver) return cudaErrorInsufficientDriver;
  return options().devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}

}  // namespace foldstep::simulated

using namespace foldstep::simulated;

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = std::exchange(last, cudaSuccess);
  return broken() != cudaSuccess ? broken() : error;
}

cudaError_t cudaPeekAtLastError() {
  return broken() != cudaSuccess ? broken() : last;
}

const char* cudaGetErrorName(cudaError_t error) {
  const Text* text = find(error);
  return text != nullptr ? text->name : "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) {
  const Text* text = find(error);
  return text != nullptr ? text->text : "unknown error";
}

}  // extern "C"
