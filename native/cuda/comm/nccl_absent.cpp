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

std::shared_ptr<SymmetricMemory> create_symmetric_memory(const std::shared_ptr<Context>&, std::size_t) {
  throw Error(Code::PathUnavailable, "NCCL is " + find_nccl().text);
}

}  // namespace foldstep::cuda
