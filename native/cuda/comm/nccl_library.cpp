#include "cuda/comm/nccl_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace foldstep::cuda {

namespace {

#if defined(FOLDSTEP_SIMULATED)

/// The simulation's functions are part of this library.
struct File {
  static constexpr bool complete = true;

  template <typename Function>
  void find(Function*& slot, Function* function, const char*) {
    slot = function;
  }
};
#define FOLDSTEP_FIND(slot, name) file.find(library.slot, &name, #name)

bool open(NcclLibrary& library, File&) {
  library.file = "simulated";
  return true;
}

#else

struct File {
  void* handle = nullptr;
  bool complete = true;

  template <typename Function>
  void find(Function*& slot, const char* name) {
    slot = reinterpret_cast<Function*>(dlsym(handle, name));
    complete = complete && slot != nullptr;
  }
};
#define FOLDSTEP_FIND(slot, name) file.find(library.slot, #name)

bool open(NcclLibrary& library, File& file) {
  std::vector<std::string> names;
  if (const char* const named = std::getenv("FOLDSTEP_NCCL")) {
    names.emplace_back(named);
  } else {
#if defined(FOLDSTEP_NCCL_LIBRARY)
    names.emplace_back(FOLDSTEP_NCCL_LIBRARY);
#endif
    names.emplace_back("libnccl.so.2");
  }
  for (const std::string& name : names) {
    file.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (file.handle == nullptr) {
      library.file = dlerror();
      continue;
    }
    library.file = name;
    return true;
  }
  return false;
}

#endif

NcclLibrary load() {
  NcclLibrary library;
  File file;
  if (!open(library, file)) return library;
  FOLDSTEP_FIND(get_version, ncclGetVersion);
  FOLDSTEP_FIND(get_unique_id, ncclGetUniqueId);
  FOLDSTEP_FIND(init_rank, ncclCommInitRankConfig);
  FOLDSTEP_FIND(finalize, ncclCommFinalize);
  FOLDSTEP_FIND(destroy, ncclCommDestroy);
  FOLDSTEP_FIND(abort, ncclCommAbort);
  FOLDSTEP_FIND(async_error, ncclCommGetAsyncError);
  FOLDSTEP_FIND(error_string, ncclGetErrorString);
  FOLDSTEP_FIND(last_error, ncclGetLastError);
  FOLDSTEP_FIND(all_reduce, ncclAllReduce);
  FOLDSTEP_FIND(reduce_scatter, ncclReduceScatter);
  FOLDSTEP_FIND(all_gather, ncclAllGather);
  FOLDSTEP_FIND(broadcast, ncclBroadcast);
  FOLDSTEP_FIND(send, ncclSend);
  FOLDSTEP_FIND(receive, ncclRecv);
  FOLDSTEP_FIND(group_start, ncclGroupStart);
  FOLDSTEP_FIND(group_end, ncclGroupEnd);
  if (!file.complete) {
    library.file += " lacks functions of NCCL 2.18: it is too old";
    return library;
  }
#if FOLDSTEP_NCCL_WINDOWS
  FOLDSTEP_FIND(allocate, ncclMemAlloc);
  FOLDSTEP_FIND(free, ncclMemFree);
  FOLDSTEP_FIND(register_window, ncclCommWindowRegister);
  FOLDSTEP_FIND(deregister_window, ncclCommWindowDeregister);
  FOLDSTEP_FIND(peer_pointer, ncclGetPeerDevicePointer);
  // An older release carries collectives all the same.
  library.has_windows = file.complete;
#endif
  library.loaded = library.get_version(&library.version) == ncclSuccess;
  if (!library.loaded) library.file += " does not tell its version";
  return library;
}

}  // namespace

const NcclLibrary& NcclLibrary::get() {
  static const NcclLibrary library = load();
  return library;
}

}  // namespace foldstep::cuda
