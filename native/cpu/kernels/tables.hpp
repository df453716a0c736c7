#pragma once

#include "cpu/kernels/kernel_table.hpp"

namespace foldstep::cpu {

extern const KernelTable portable_table;
#if defined(__x86_64__)
extern const KernelTable avx2_table;
extern const KernelTable avx512_table;
#endif

}  // namespace foldstep::cpu
