#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cuda/comm/transport.hpp"
#include "cuda/context.hpp"
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

/// Device memory that the members of a group reach through symmetric windows of NCCL.
class SymmetricMemory {
 public:
  virtual ~SymmetricMemory() = default;

  /// This rank's, zeroed.
  virtual std::byte* data() const = 0;
  /// Collective over `host`, whose members have a device and as many bytes each; once, on an issuing thread.
  /// Gives where this device reaches each member's memory. Errors: Code::PathUnavailable, Aborted, and those
  /// of `host`. One member may fail while others do not.
  virtual std::vector<std::byte*> share(StreamWorker& worker, Communicator& host) = 0;
};
/// Errors: Code::PathUnavailable where NCCL has no such windows or gives no memory for them.
std::shared_ptr<SymmetricMemory> create_symmetric_memory(const std::shared_ptr<Context>& context,
                                                         std::size_t bytes);

}  // namespace foldstep::cuda
