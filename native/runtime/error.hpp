#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace foldstep {

/// The stable codes of lib/errors.ts that native code can raise.
enum class Code {
  InvalidArgument,
  InvalidDtype,
  InvalidLength,
  Disposed,
  OperationMismatch,
  DeadlineExceeded,
  PeerExited,
  Aborted,
  PathUnavailable,
  SharedMemoryTooSmall,
  SharedMemoryUnavailable,
  OutOfMemory,
  MpiUnavailable,
  MpiFailed,
  DeviceUnavailable,
  DeviceFailed,
  DeviceShared,
  NcclFailed,
  Internal,
};

constexpr std::string_view name_of(Code code) {
  switch (code) {
    case Code::InvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::InvalidDtype:
      return "INVALID_DTYPE";
    case Code::InvalidLength:
      return "INVALID_LENGTH";
    case Code::Disposed:
      return "DISPOSED";
    case Code::OperationMismatch:
      return "OPERATION_MISMATCH";
    case Code::DeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::PeerExited:
      return "PEER_EXITED";
    case Code::Aborted:
      return "ABORTED";
    case Code::PathUnavailable:
      return "PATH_UNAVAILABLE";
    case Code::SharedMemoryTooSmall:
      return "SHARED_MEMORY_TOO_SMALL";
    case Code::SharedMemoryUnavailable:
      return "SHARED_MEMORY_UNAVAILABLE";
    case Code::OutOfMemory:
      return "OUT_OF_MEMORY";
    case Code::MpiUnavailable:
      return "MPI_UNAVAILABLE";
    case Code::MpiFailed:
      return "MPI_FAILED";
    case Code::DeviceUnavailable:
      return "DEVICE_UNAVAILABLE";
    case Code::DeviceFailed:
      return "DEVICE_FAILED";
    case Code::DeviceShared:
      return "DEVICE_SHARED";
    case Code::NcclFailed:
      return "NCCL_FAILED";
    case Code::Internal:
      break;
  }
  return "INTERNAL";
}

/// The one exception native code throws. `rank` reports it, `peer` is whom it is about; both are world ranks,
/// -1 if unknown.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, int rank = -1, int peer = -1)
      : std::runtime_error(message), code_(code), rank_(rank), peer_(peer) {}

  Code code() const { return code_; }
  int rank() const { return rank_; }
  int peer() const { return peer_; }

 private:
  Code code_;
  int rank_;
  int peer_;
};

}  // namespace foldstep
