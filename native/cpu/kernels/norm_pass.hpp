#pragma once

#include "cpu/kernels/kernel_table.hpp"
#include "cpu/threads.hpp"
#include "runtime/kernels.hpp"

namespace foldstep::cpu {

/// This rank's partials (partials_length(plan.groups)) of the norm of the plan's segments of `arena`. Every
/// element is looked at; those of segments that are not counted only for being finite.
void find_norm_partials(Threads& threads, const KernelTable& table, const NormPlan& plan, NormKind kind,
                        double p, const float* arena, double power_scale, double* partials);

/// The power of two that brings the largest of the gathered maxima into [0.5, 1); 1 if that one is 0 or not
/// finite.
double find_power_scale(const double* gathered, std::uint32_t groups, int ranks);

/// NormScalars from every rank's partials, in rank order.
void finish_norm(const FinishNorm& request, const double* gathered, double power_scale, double* scalars);

}  // namespace foldstep::cpu
