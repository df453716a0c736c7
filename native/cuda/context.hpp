#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "cuda/memory/allocator_watch.hpp"
#include "cuda/memory/pinned_pool.hpp"
#include "cuda/side_stream.hpp"
#include "cuda/window/lent_slabs.hpp"
#include "runtime/backend.hpp"
#include "runtime/ledger.hpp"
#include "runtime/task_thread.hpp"

namespace foldstep::cuda {

/// What the parts of one CUDA backend share. Outlives them: each holds a shared_ptr to it.
struct Context {
  /// Chooses the device by the local rank. Errors: Code::DeviceUnavailable, DeviceFailed.
  Context(const BackendOptions& options, std::shared_ptr<Backend> host_backend);

  /// Makes the device the calling thread's. Every thread that calls CUDA does so first.
  void use() const;
  /// Runs `free` soon, on a thread of its own: CUDA waits for running kernels before it frees anything, and
  /// those may wait for other ranks. Slabs that have come back by then are freed too. `free` must not throw.
  static void free_later(const std::shared_ptr<Context>& context, std::function<void()> free);
  /// Waits for what is being freed, slabs that have come back included. Gives false if there was nothing.
  bool finish_frees();

  int device = 0;
  cudaDeviceProp properties{};
  std::chrono::milliseconds deadline{60'000};
  Collectives collectives = Collectives::Auto;
  std::shared_ptr<Backend> host;  ///< for what goes over MPI
  Ledger ledger;
  AllocatorWatch allocator;
  SideStream side_stream;
  PinnedPool pinned;
  LentSlabs lent;
  /// Takes down what may block for other ranks, such as NCCL's communicators.
  TaskThread reaper;

 private:
  int choose_device(int local_rank) const;

  std::atomic<int> frees_{0};
  TaskThread freer_;
};

/// As nvidia-smi prints it: "GPU-" and 32 digits in five groups.
std::string uuid_text(const cudaUUID_t& uuid);

}  // namespace foldstep::cuda
