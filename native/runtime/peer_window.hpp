#pragma once

#include <memory>
#include <vector>

#include "runtime/memory.hpp"

namespace foldstep {

/// One slab of memory per rank of a communicator, collectively allocated and mapped by every member.
class PeerWindow {
 public:
  virtual ~PeerWindow() = default;

  /// This rank's slab; zeroed; the block stays mapped as long as somebody holds it.
  virtual std::shared_ptr<Memory> slab() const = 0;
  /// World ranks of the members, in order.
  virtual const std::vector<int>& world_ranks() const = 0;
};

}  // namespace foldstep
