#include "cpu/mapped.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace foldstep::cpu {

bool is_mapped(const std::byte* address, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t skew = begin % page;
  // Asked to write pages back at leisure, the kernel does nothing but look whether they are there.
  return msync(reinterpret_cast<void*>(begin - skew), bytes + skew, MS_ASYNC) == 0;
}

}  // namespace foldstep::cpu
