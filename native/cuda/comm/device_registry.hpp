#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "cuda/context.hpp"
#include "runtime/communicator.hpp"

namespace foldstep::cuda {

/// What every rank of the world computes on, as all have told each other: so each finds out by itself, and
/// like all others, what carries the collectives of a group.
class DeviceRegistry {
 public:
  /// Collective over the world; blocks. Errors: Code::OperationMismatch if ranks ask for different
  /// collectives; where NCCL is asked for, DeviceShared if two ranks have one device and NcclFailed if a rank
  /// has no NCCL.
  static std::shared_ptr<const DeviceRegistry> gather(Context& context, Communicator& world);

  /// Whether NCCL carries the collectives of a group, rather than the host.
  bool nccl_serves(const std::vector<int>& world_ranks) const;

 private:
  /// Plain bytes.
  struct Entry {
    cudaUUID_t device;
    int nccl_version = 0;
    Collectives wish = Collectives::Auto;
  };

  void require_one_wish() const;
  void require_own_devices() const;
  void require_nccl() const;

  std::vector<Entry> entries_;  // by world rank
};

}  // namespace foldstep::cuda
