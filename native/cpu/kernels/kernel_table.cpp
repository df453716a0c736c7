#include "cpu/kernels/kernel_table.hpp"

#include <cstdlib>
#include <string>

#include "cpu/kernels/tables.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

std::vector<const KernelTable*> find_available() {
  std::vector<const KernelTable*> tables;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    tables.push_back(&avx512_table);
  }
  if (__builtin_cpu_supports("avx2")) tables.push_back(&avx2_table);
#endif
  tables.push_back(&portable_table);
  return tables;
}

const KernelTable& choose() {
  const auto& tables = available_kernel_tables();
  const char* const wanted = std::getenv("FOLDSTEP_INSTRUCTION_SET");
  if (wanted == nullptr || *wanted == '\0') return *tables.front();
  std::string names;
  for (const KernelTable* table : tables) {
    if (table->name == wanted) return *table;
    names += names.empty() ? "" : ", ";
    names += table->name;
  }
  throw Error(Code::InvalidArgument,
              std::string("FOLDSTEP_INSTRUCTION_SET is \"") + wanted +
                  "\", which this machine does not have; unset it or set it to one of: " + names);
}

}  // namespace

const std::vector<const KernelTable*>& available_kernel_tables() {
  static const std::vector<const KernelTable*> tables = find_available();
  return tables;
}

const KernelTable& kernel_table() {
  static const KernelTable& table = choose();
  return table;
}

}  // namespace foldstep::cpu
