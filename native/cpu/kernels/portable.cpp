#include "cpu/kernels/element_loops.hpp"
#include "cpu/kernels/tables.hpp"

namespace foldstep::cpu {

constinit const KernelTable portable_table = table_of("portable");

}  // namespace foldstep::cpu
