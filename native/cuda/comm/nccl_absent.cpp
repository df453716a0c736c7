#include "cuda/comm/nccl.hpp"
#include "runtime/error.hpp"

/// Compiled where nccl.h was not found.
namespace foldstep::cuda {

NcclPresence find_nccl() {
  return {0,
          "not built in: nccl.h was not found; run `node scripts/get-nccl.mjs`, or install libnccl-dev, and "
          "build "
          "again"};
}

std::unique_ptr<Transport> create_nccl_transport(std::shared_ptr<Communicator>) {
  throw Error(Code::NcclFailed, find_nccl().text);
}

}  // namespace foldstep::cuda
