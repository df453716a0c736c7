#pragma once

#include <memory>

#include "cpu/context.hpp"
#include "runtime/fold.hpp"

namespace foldstep::cpu {

/// The fused passes on this host's processors. Arguments are checked when an operation is enqueued: an error
/// there leaves the team usable.
class CpuFold final : public Fold {
 public:
  explicit CpuFold(std::shared_ptr<Context> context);

  /// Errors, at once: InvalidArgument, InvalidDtype, InvalidLength, PathUnavailable. On the stream: those of
  /// Signals::take_turn and Communicator.
  void accumulate(Stream& stream, const Team& team, const Accumulate& request) override;
  void reduce(Stream& stream, const Team& team, const Reduce& request) override;
  void gather(Stream& stream, const Team& team, const Gather& request) override;

 private:
  std::shared_ptr<Context> context_;
};

}  // namespace foldstep::cpu
