#include "cuda/versions.hpp"

#include <cuda_runtime_api.h>

namespace foldstep::cuda {

namespace {

std::string text_of(int version) {
  if (version == 0) return "none";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess) cudaGetLastError();
  return text_of(version);
}

std::string runtime_version() {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) cudaGetLastError();
  return text_of(version);
}

}  // namespace foldstep::cuda
