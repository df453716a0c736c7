#include "cpu/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "runtime/error.hpp"

namespace foldstep::cpu {

namespace {

/// An empty block still has an address of its own.
std::size_t mapped_bytes(std::size_t bytes) {
  return std::max<std::size_t>(bytes, 1);
}

}  // namespace

HostMemory::HostMemory(std::size_t bytes) : bytes_(bytes) {
  void* const mapping =
      mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    throw Error(Code::OutOfMemory, "this process cannot get " + std::to_string(bytes) + " bytes of memory");
  }
  madvise(mapping, mapped_bytes(bytes), MADV_HUGEPAGE);  // a wish: kernels without huge pages refuse it
  data_ = static_cast<std::byte*>(mapping);
}

HostMemory::~HostMemory() {
  munmap(data_, mapped_bytes(bytes_));
}

}  // namespace foldstep::cpu
