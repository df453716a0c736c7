#if defined(__x86_64__)
#if !defined(__AVX2__)
#error "compile this file with -mavx2"
#endif

#include "cpu/kernels/element_loops.hpp"
#include "cpu/kernels/tables.hpp"

namespace foldstep::cpu {

constinit const KernelTable avx2_table = table_of("avx2");

}  // namespace foldstep::cpu

#endif
