#pragma once

#include <memory>
#include <string>

#include "cuda/comm/transport.hpp"
#include "runtime/communicator.hpp"

/// NCCL, if it was there when this library was built and is there now.
namespace foldstep::cuda {

struct NcclPresence {
  int version = 0;   ///< as NCCL counts: 22703 is 2.27.3; 0 if it cannot be used
  std::string text;  ///< its version and file, or why it cannot be used and how to get it
};
NcclPresence find_nccl();

/// Over the members of `host`, which have a device each. NCCL is initialized at the first operation.
std::unique_ptr<Transport> create_nccl_transport(std::shared_ptr<Communicator> host);

}  // namespace foldstep::cuda
