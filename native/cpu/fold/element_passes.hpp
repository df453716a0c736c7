#pragma once

#include "cpu/context.hpp"
#include "cpu/kernels/kernel_table.hpp"

namespace foldstep::cpu {

/// The kernels of the fold over all threads of the rank. Slices as in the kernel table.

void run(Context& context, const AccumulateSlice& slice);
void run(Context& context, const ReduceSlice& slice);
void run_copy(Context& context, const void* source, void* target, std::size_t bytes);
void run_cast(Context& context, const std::uint16_t* source, float* target, std::size_t n);
void run_cast(Context& context, const float* source, std::uint16_t* target, std::size_t n);

}  // namespace foldstep::cpu
