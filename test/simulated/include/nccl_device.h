#pragma once

/// What foldstep uses of the part of NCCL's interface that is for devices: on the host, this.

#include <nccl.h>

#include <cstddef>

extern "C" {

ncclResult_t ncclGetPeerDevicePointer(ncclWindow_t window, std::size_t offset, int peer, void** address);

}  // extern "C"
