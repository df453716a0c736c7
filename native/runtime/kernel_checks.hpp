#pragma once

#include "runtime/kernels.hpp"

/// What is refused before Kernels are given anything to enqueue. Errors: Code::InvalidArgument, InvalidDtype,
/// InvalidLength.
namespace foldstep {

void check_cast(const Span& source, DType from, const Span& target, DType to, std::size_t count);
void check_copy(const Span& source, const Span& target, std::size_t bytes);
void check_zero(const Span& target, std::size_t bytes);
void check_norm_partials(const NormPlan& plan, NormKind kind, double p, const Span& arena,
                         const Span& power_scale, const Span& partials);
void check_power_scale(const Span& gathered, std::uint32_t groups, int ranks, const Span& scale);
void check_finish_norm(const FinishNorm& request, const Span& gathered, const Span& power_scale,
                       const Span& scalars);
void check_update(const UpdatePlan& plan, const UpdateSettings& settings, const UpdateArenas& arenas,
                  const Span& scalars);

}  // namespace foldstep
