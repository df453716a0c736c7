#pragma once

#include <string>

#include "cuda/comm/nccl_headers.hpp"

namespace foldstep::cuda {

/// NCCL's functions, found at run time: hosts without NCCL load this backend all the same.
struct NcclLibrary {
  std::string file;     ///< or why it does not load
  bool loaded = false;  ///< without it, the functions are null
  int version = 0;

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init_rank = nullptr;
  decltype(&ncclCommFinalize) finalize = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;

#if FOLDSTEP_NCCL_WINDOWS
  bool has_windows = false;  ///< without it, the following are null
  decltype(&ncclMemAlloc) allocate = nullptr;
  decltype(&ncclMemFree) free = nullptr;
  decltype(&ncclCommWindowRegister) register_window = nullptr;
  decltype(&ncclCommWindowDeregister) deregister_window = nullptr;
  decltype(&ncclGetPeerDevicePointer) peer_pointer = nullptr;
#endif

  /// Loaded once for the process. The file is FOLDSTEP_NCCL's, or that of the build, or what the loader
  /// finds.
  static const NcclLibrary& get();
};

}  // namespace foldstep::cuda
