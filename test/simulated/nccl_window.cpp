#include <cuda_runtime_api.h>
#include <nccl.h>
#include <nccl_device.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "ipc.hpp"
#include "memory.hpp"
#include "nccl_comm.hpp"
#include "options.hpp"

/// Where this process reaches the memory of all members. In NCCL its addresses are other ones than those that
/// were registered, also this rank's own.
struct ncclWindow {
  explicit ncclWindow(std::size_t bytes) : bytes(bytes) {}
  ~ncclWindow() {
    for (void* const address : opened) foldstep::simulated::close_memory(address);
  }
  ncclWindow(const ncclWindow&) = delete;
  ncclWindow& operator=(const ncclWindow&) = delete;

  std::size_t bytes;
  std::vector<std::byte*> members;
  std::vector<void*> opened;
};

namespace foldstep::simulated {
namespace {

std::vector<std::byte> bytes_of(const cudaIpcMemHandle_t& handle) {
  const auto* first = reinterpret_cast<const std::byte*>(&handle);
  return {first, first + sizeof handle};
}

void must(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw NcclFailure(ncclUnhandledCudaError, what);
}

/// Collective: comes back when every member has mapped the memory of all.
std::unique_ptr<ncclWindow> map_all(Group& group, void* address, std::size_t bytes, int tag) {
  auto window = std::make_unique<ncclWindow>(bytes);
  cudaIpcMemHandle_t mine{};
  must(export_memory(&mine, address), "a window is of memory that ncclMemAlloc has given");
  for (const Message& message : group.gather(bytes_of(mine), tag)) {
    void* at = address;
    if (message.peer != group.rank()) {
      cudaIpcMemHandle_t theirs{};
      std::memcpy(&theirs, message.bytes.data(), sizeof theirs);
      must(open_memory(&at, theirs), "another rank's memory cannot be mapped");
      window->opened.push_back(at);
    }
    window->members.push_back(static_cast<std::byte*>(at));
  }
  group.gather({}, tag);
  return window;
}

}  // namespace
}  // namespace foldstep::simulated

using namespace foldstep::simulated;

extern "C" {

ncclResult_t ncclMemAlloc(void** address, std::size_t bytes) {
  return cudaMalloc(address, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void* address) {
  return cudaFree(address) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* address, std::size_t bytes, ncclWindow_t* window,
                                    int flags) {
  *window = nullptr;
  if (comm == nullptr || flags != NCCL_WIN_COLL_SYMMETRIC || !is_device_memory(address)) {
    return ncclInvalidArgument;
  }
  if (comm->state->error() != ncclSuccess) return comm->state->error();
  if (options().null_window) return ncclSuccess;
  return begin_in_group([=, state = comm->state, tag = comm->state->next_tag()] {
    return perform(state, [=] {
      come(*state);
      std::unique_ptr<ncclWindow> made = map_all(state->group, address, bytes, tag);
      state->unless_aborted([&] { *window = made.release(); });
    });
  });
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  if (comm == nullptr) return ncclInvalidArgument;
  delete window;
  return ncclSuccess;
}

ncclResult_t ncclGetPeerDevicePointer(ncclWindow_t window, std::size_t offset, int peer, void** address) {
  if (window == nullptr || offset >= window->bytes || peer < 0 ||
      static_cast<std::size_t>(peer) >= window->members.size()) {
    return ncclInvalidArgument;
  }
  *address = window->members[static_cast<std::size_t>(peer)] + offset;
  return ncclSuccess;
}

}  // extern "C"
