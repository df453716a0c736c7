#if defined(__x86_64__)
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__)
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"
#endif

#include "cpu/kernels/element_loops.hpp"
#include "cpu/kernels/tables.hpp"

namespace foldstep::cpu {

constinit const KernelTable avx512_table = table_of("avx512");

}  // namespace foldstep::cpu

#endif
