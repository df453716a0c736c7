#pragma once

#include "runtime/fold.hpp"

namespace foldstep::cuda {

/// The fused passes on CUDA devices. Arguments are checked when an operation is enqueued: an error there
/// leaves the team usable.
class CudaFold final : public Fold {
 public:
  /// Errors, at once: InvalidArgument, InvalidDtype, InvalidLength, PathUnavailable. On the stream: those of
  /// CudaWindow::take_turn and Communicator.
  void accumulate(Stream& stream, const Team& team, const Accumulate& request) override;
  void reduce(Stream& stream, const Team& team, const Reduce& request) override;
  void gather(Stream& stream, const Team& team, const Gather& request) override;
};

}  // namespace foldstep::cuda
