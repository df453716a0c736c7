#pragma once

#include <memory>

#include "runtime/backend.hpp"
#include "runtime/prepared_operation.hpp"

/// The parts of the norm and the update as prepared operations. The backend outlives them. Errors, at once:
/// Code::InvalidArgument, InvalidLength.
namespace foldstep {

/// See Kernels::norm_partials.
struct NormPartialsRequest {
  NormPlan plan;
  NormKind kind = NormKind::Two;
  double p = 2;
  Span arena;        ///< FP32
  Span power_scale;  ///< one FP64; only for NormKind::Power
  Span partials;     ///< FP64, partials_length(groups)
};
/// Enqueued with no values.
std::shared_ptr<PreparedOperation> prepare(Backend& backend, NormPartialsRequest request);

/// See Kernels::power_scale.
struct PowerScaleRequest {
  std::uint32_t groups = 1;
  int ranks = 1;
  Span gathered;  ///< FP64, ranks * partials_length(groups)
  Span scale;     ///< one FP64
};
/// Enqueued with no values.
std::shared_ptr<PreparedOperation> prepare(Backend& backend, PowerScaleRequest request);

/// See Kernels::finish_norm.
struct FinishNormRequest {
  FinishNorm norm;
  Span gathered;     ///< FP64, ranks * partials_length(groups)
  Span power_scale;  ///< one FP64; only for NormKind::Power
  Span scalars;      ///< FP64, as NormScalars
};
/// Enqueued with no values.
std::shared_ptr<PreparedOperation> prepare(Backend& backend, FinishNormRequest request);

/// See Kernels::update.
struct UpdateRequest {
  UpdatePlan plan;
  UpdateSettings settings;  ///< all but the learning rate and the step
  UpdateArenas arenas;
  Span scalars;  ///< FP64, as NormScalars of the plan's groups
};
/// Enqueued with the learning rate and the number of the step.
std::shared_ptr<PreparedOperation> prepare(Backend& backend, UpdateRequest request);

}  // namespace foldstep
