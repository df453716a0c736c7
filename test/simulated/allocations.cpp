#include "allocations.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "errors.hpp"
#include "options.hpp"

namespace foldstep::simulated {
namespace {

constexpr std::size_t page = 4096;
/// What the runtime promises of addresses, and no more.
constexpr std::size_t alignment = 256;
/// Larger allocations stay in the host's reach: to take many pages out of it and back costs more than a
/// kernel.
constexpr std::size_t most_protected_bytes = 1 << 20;
/// NaN in every floating-point type, and no epoch, length or flag.
constexpr int poison = 0xff;

constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

Allocations& Allocations::get() {
  static auto& allocations = *new Allocations;
  return allocations;
}

/// The last byte lies as close to the page that faults as the alignment lets it.
cudaError_t Allocations::map(Allocation& allocation) {
  allocation.page_bytes = round_up(allocation.bytes, page);
  void* reserved = mmap(nullptr, allocation.page_bytes + 2 * page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return cudaErrorMemoryAllocation;
  allocation.pages = static_cast<std::byte*>(reserved) + page;
  if (mmap(allocation.pages, allocation.page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           allocation.file, 0) == MAP_FAILED) {
    munmap(reserved, allocation.page_bytes + 2 * page);
    return cudaErrorMapBufferObjectFailed;
  }
  allocation.data = allocation.pages + allocation.page_bytes - round_up(allocation.bytes, alignment);
  return cudaSuccess;
}

cudaError_t Allocations::allocate(void** address, std::size_t bytes, Kind kind, int device) {
  *address = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::lock_guard lock(mutex_);
  if (kind == Kind::Device && ++attempts_ == options().fail_allocation) return cudaErrorMemoryAllocation;
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.device = device;
  allocation.file = memfd_create("simulated device memory", MFD_CLOEXEC);
  struct stat facts {};
  if (allocation.file < 0 || ftruncate(allocation.file, static_cast<off_t>(round_up(bytes, page))) != 0 ||
      fstat(allocation.file, &facts) != 0 || map(allocation) != cudaSuccess) {
    if (allocation.file >= 0) close(allocation.file);
    return cudaErrorMemoryAllocation;
  }
  allocation.number = facts.st_ino;
  std::memset(allocation.pages, poison, allocation.page_bytes);
  insert(allocation);
  *address = allocation.data;
  return cudaSuccess;
}

cudaError_t Allocations::open(void** address, int file, unsigned long number, std::size_t bytes, int device) {
  const std::lock_guard lock(mutex_);
  for (auto& [data, allocation] : by_address_) {
    if (allocation.kind != Kind::Peer || allocation.number != number) continue;
    ++allocation.openings;
    close(file);
    *address = allocation.data;
    return cudaSuccess;
  }
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.kind = Kind::Peer;
  allocation.device = device;
  allocation.file = file;
  allocation.number = number;
  const cudaError_t error = map(allocation);
  if (error != cudaSuccess) {
    close(file);
    return error;
  }
  insert(allocation);
  *address = allocation.data;
  return cudaSuccess;
}

void Allocations::insert(const Allocation& allocation) {
  protect(allocation);
  by_address_.emplace(allocation.data, allocation);
}

cudaError_t Allocations::release(void* address, Kind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(static_cast<std::byte*>(address));
  if (found == by_address_.end() || found->second.kind != kind) return cudaErrorInvalidValue;
  Allocation& allocation = found->second;
  if (kind == Kind::Peer && --allocation.openings > 0) return cudaSuccess;
  if (kind != Kind::Peer && !intact(allocation)) {
    break_device(cudaErrorIllegalAddress, "an allocation of " + std::to_string(allocation.bytes) +
                                              " bytes was written beyond its ends");
  }
  munmap(allocation.pages - page, allocation.page_bytes + 2 * page);
  close(allocation.file);
  by_address_.erase(found);
  return cudaSuccess;
}

bool Allocations::intact(const Allocation& allocation) const {
  mprotect(allocation.pages, allocation.page_bytes, PROT_READ | PROT_WRITE);
  const auto poisoned = [](std::byte value) { return value == std::byte{poison}; };
  return std::all_of(allocation.pages, allocation.data, poisoned) &&
         std::all_of(allocation.data + allocation.bytes, allocation.pages + allocation.page_bytes, poisoned);
}

std::optional<Allocation> Allocations::find(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(mutex_);
  auto next = by_address_.upper_bound(at);
  if (next == by_address_.begin()) return std::nullopt;
  const Allocation& allocation = std::prev(next)->second;
  if (at >= allocation.data + allocation.bytes) return std::nullopt;
  return allocation;
}

std::size_t Allocations::device_bytes() {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [data, allocation] : by_address_) {
    if (allocation.kind == Kind::Device) bytes += allocation.bytes;
  }
  return bytes;
}

void Allocations::enter() {
  const std::lock_guard lock(mutex_);
  if (users_++ > 0) return;
  for (const auto& [data, allocation] : by_address_) protect(allocation);
}

void Allocations::leave() {
  const std::lock_guard lock(mutex_);
  if (--users_ > 0) return;
  for (const auto& [data, allocation] : by_address_) protect(allocation);
}

void Allocations::protect(const Allocation& allocation) const {
  if (allocation.kind == Kind::Pinned || allocation.bytes > most_protected_bytes) return;
  mprotect(allocation.pages, allocation.page_bytes, users_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
}

std::optional<Allocation> allocation_of(const void* address) {
  return Allocations::get().find(address);
}

bool is_device_memory(const void* address) {
  const auto allocation = allocation_of(address);
  return allocation && allocation->kind != Kind::Pinned;
}

bool is_peer_memory(const void* address) {
  const auto allocation = allocation_of(address);
  return allocation && allocation->kind == Kind::Peer;
}

DeviceAccess::DeviceAccess() {
  Allocations::get().enter();
}
DeviceAccess::~DeviceAccess() {
  Allocations::get().leave();
}

}  // namespace foldstep::simulated
