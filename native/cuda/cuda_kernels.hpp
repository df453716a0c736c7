#pragma once

#include <memory>

#include "runtime/kernels.hpp"

namespace foldstep::cuda {

/// Starts the kernels of kernels/kernels.hpp. Arguments are checked when an operation is enqueued
/// (Code::InvalidArgument, InvalidDtype, InvalidLength).
class CudaKernels final : public Kernels {
 public:
  void cast(Stream& stream, Span source, DType from, Span target, DType to, std::size_t count) override;
  /// Also between host and device.
  void copy(Stream& stream, Span source, Span target, std::size_t bytes) override;
  void zero(Stream& stream, Span target, std::size_t bytes) override;
  void norm_partials(Stream& stream, std::shared_ptr<const NormPlan> plan, NormKind kind, double p,
                     Span arena, Span power_scale, Span partials) override;
  void power_scale(Stream& stream, Span gathered, std::uint32_t groups, int ranks, Span scale) override;
  void finish_norm(Stream& stream, const FinishNorm& request, Span gathered, Span power_scale,
                   Span scalars) override;
  void update(Stream& stream, std::shared_ptr<const UpdatePlan> plan, const UpdateSettings& settings,
              const UpdateArenas& arenas, Span scalars) override;
};

}  // namespace foldstep::cuda
