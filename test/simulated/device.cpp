#include "simulated/device.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "errors.hpp"
#include "grid.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "store_buffer.hpp"
#include "stream.hpp"

namespace foldstep::simulated {

static_assert(threads_of_block == cuda::block_threads && threads_of_warp == cuda::warp_threads);

namespace {

/// Others come in between here and there.
void maybe_yield(Grid& grid, Site site) {
  if (grid.delays() && grid.random().one_in(8)) grid.yield(site, false);
}

void check_alignment(Grid& grid, const void* at, std::size_t bytes, Site site) {
  if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) {
    grid.fail("an access of " + std::to_string(bytes) + " bytes at an address that is no multiple of them",
              site);
  }
}

/// What the thread itself, or another before the last barrier, has stored is seen by a load that follows.
void settle(Thread& thread, const void* at) {
  Block& block = *thread.block;
  if ((thread.stores.empty() && block.stores.empty()) || !is_peer_memory(at)) return;
  block.stores.drain(block.grid->random());
  thread.stores.drain(block.grid->random());
}

/// Makes a store that may reach a peer's memory late.
void store_weakly(Thread& thread, void* at, const void* value, std::size_t bytes) {
  if (thread.block->grid->delays() && is_peer_memory(at)) {
    thread.stores.add(at, value, bytes);
  } else {
    store_now(at, value, bytes);
  }
}

}  // namespace

unsigned thread_index() {
  return Grid::self().index;
}
unsigned block_index() {
  return Grid::self().block->index;
}
unsigned block_count() {
  return Grid::self().block->grid->block_count();
}

std::uint64_t nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void* shared_array(const void* identity, std::size_t bytes) {
  auto& shared = Grid::self().block->shared;
  return shared.try_emplace(identity, bytes, std::byte{0xff}).first->second.data();
}

void barrier(Site site) {
  Grid::self().block->grid->barrier(site);
}

std::uint64_t exchange(std::uint64_t bits, int mask, Site site) {
  return Grid::self().block->grid->exchange(bits, mask, site);
}

void pause(Site site) {
  Grid::self().block->grid->yield(site, true);
}

void load(void* value, const void* at, std::size_t bytes, Site site) {
  Thread& thread = Grid::self();
  Grid& grid = *thread.block->grid;
  check_alignment(grid, at, bytes, site);
  maybe_yield(grid, site);
  settle(thread, at);
  __builtin_memcpy(value, at, bytes);
}

void store(void* at, const void* value, std::size_t bytes, Site site) {
  Thread& thread = Grid::self();
  Grid& grid = *thread.block->grid;
  check_alignment(grid, at, bytes, site);
  maybe_yield(grid, site);
  store_weakly(thread, at, value, bytes);
}

std::uint32_t load_word(const std::uint32_t* at, bool acquire, Site site) {
  Thread& thread = Grid::self();
  Grid& grid = *thread.block->grid;
  check_alignment(grid, at, sizeof *at, site);
  // Always, so that a loop around it does not keep the others from running.
  grid.yield(site, true);
  settle(thread, at);
  return __atomic_load_n(at, acquire ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
}

void store_word(std::uint32_t* at, std::uint32_t value, bool release, Site site) {
  Thread& thread = Grid::self();
  Block& block = *thread.block;
  Grid& grid = *block.grid;
  check_alignment(grid, at, sizeof *at, site);
  maybe_yield(grid, site);
  if (!grid.answers() && is_peer_memory(at)) return;
  if (!release) return store_weakly(thread, at, &value, sizeof value);
  block.stores.drain(grid.random());
  thread.stores.drain(grid.random());
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

cudaError_t start(unsigned blocks, cudaStream_t stream, std::function<void()> thread, Site site) {
  call([&] {
    if (blocks == 0) return cudaErrorInvalidConfiguration;
    if (!is_stream_of(stream, current_device())) return cudaErrorInvalidResourceHandle;
    return enqueue(stream, [blocks, stream, site, thread = std::move(thread)] {
      const DeviceAccess access;
      Grid grid(blocks, thread, site, Random(random_of(stream).next()), options().delay);
      const std::string fault = grid.run(options().idle_limit);
      if (!fault.empty()) break_device(cudaErrorLaunchFailure, fault);
    });
  });
  return cudaGetLastError();
}

}  // namespace foldstep::simulated
