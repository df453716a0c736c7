#pragma once

#include "cpu/kernels/kernel_table.hpp"
#include "cpu/threads.hpp"
#include "runtime/kernels.hpp"

namespace foldstep::cpu {

/// One optimizer step over the plan, or only its clearing where `scalars` says skip. `arenas` holds element 0
/// of each arena; its n and coefficient are not read.
void run_update(Threads& threads, const KernelTable& table, const UpdatePlan& plan,
                const UpdateSettings& settings, const UpdateSlice& arenas, const double* scalars);

}  // namespace foldstep::cpu
