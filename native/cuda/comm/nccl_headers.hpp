#pragma once

#include <nccl.h>

/// Whether nccl.h is of a release that tells the host where a device reaches other ranks' windows.
#if NCCL_VERSION_CODE >= 22902 && __has_include(<nccl_device.h>)
#define FOLDSTEP_NCCL_WINDOWS 1
#include <nccl_device.h>
#else
#define FOLDSTEP_NCCL_WINDOWS 0
#endif
