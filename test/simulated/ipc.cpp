#include "ipc.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "allocations.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "stream.hpp"

namespace foldstep::simulated {
namespace {

/// What a cudaIpcMemHandle_t holds.
struct Exported {
  pid_t process;
  int file;
  unsigned long number;
  std::size_t bytes;
};
static_assert(std::is_trivially_copyable_v<Exported> && sizeof(Exported) <= sizeof(cudaIpcMemHandle_t));

}  // namespace

cudaError_t export_memory(cudaIpcMemHandle_t* handle, void* address) {
  const auto found = allocation_of(address);
  if (!found || found->kind != Kind::Device || found->data != address) return cudaErrorInvalidValue;
  const Exported exported{getpid(), found->file, found->number, found->bytes};
  std::memcpy(handle, &exported, sizeof exported);
  return cudaSuccess;
}

cudaError_t open_memory(void** address, const cudaIpcMemHandle_t& handle) {
  Exported exported;
  std::memcpy(&exported, &handle, sizeof exported);
  if (exported.process == getpid()) return cudaErrorDeviceUninitialized;
  const std::string path =
      "/proc/" + std::to_string(exported.process) + "/fd/" + std::to_string(exported.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return cudaErrorMapBufferObjectFailed;
  struct stat facts {};
  if (fstat(file, &facts) != 0 || facts.st_ino != exported.number) {
    close(file);
    return cudaErrorMapBufferObjectFailed;
  }
  return Allocations::get().open(address, file, exported.number, exported.bytes, current_device());
}

cudaError_t close_memory(void* address) {
  synchronize_all();
  return Allocations::get().release(address, Kind::Peer);
}

}  // namespace foldstep::simulated

using namespace foldstep::simulated;

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  return call([&] { return options().no_ipc ? cudaErrorNotSupported : export_memory(handle, address); });
}

cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle, unsigned flags) {
  return call([&] {
    return flags == cudaIpcMemLazyEnablePeerAccess ? open_memory(address, handle) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* address) {
  return call([&] { return close_memory(address); });
}

}  // extern "C"
