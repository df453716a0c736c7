#pragma once

#include <memory>

#include "cpu/context.hpp"
#include "cpu/kernels/kernel_table.hpp"
#include "runtime/kernels.hpp"

namespace foldstep::cpu {

/// The element loops of kernel_table(), spread over the context's threads on the stream's thread. Arguments
/// are checked when an operation is enqueued (Code::InvalidArgument, InvalidDtype, InvalidLength); the spans
/// it captures keep their memory alive.
class CpuKernels final : public Kernels {
 public:
  explicit CpuKernels(std::shared_ptr<Context> context);
  CpuKernels(std::shared_ptr<Context> context, const KernelTable& table);

  void cast(Stream& stream, Span source, DType from, Span target, DType to, std::size_t count) override;
  void copy(Stream& stream, Span source, Span target, std::size_t bytes) override;
  void zero(Stream& stream, Span target, std::size_t bytes) override;
  void norm_partials(Stream& stream, std::shared_ptr<const NormPlan> plan, NormKind kind, double p,
                     Span arena, Span power_scale, Span partials) override;
  void power_scale(Stream& stream, Span gathered, std::uint32_t groups, int ranks, Span scale) override;
  void finish_norm(Stream& stream, const FinishNorm& request, Span gathered, Span power_scale,
                   Span scalars) override;
  void update(Stream& stream, std::shared_ptr<const UpdatePlan> plan, const UpdateSettings& settings,
              const UpdateArenas& arenas, Span scalars) override;

 private:
  std::shared_ptr<Context> context_;
  const KernelTable& table_;
};

}  // namespace foldstep::cpu
