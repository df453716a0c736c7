#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include "cpu/comm/launcher.hpp"
#include "cpu/mpi/mpi_library.hpp"

namespace foldstep::cpu {

/// The start of MPI, which waits for every rank and cannot be called off: it runs on a thread of its own, so
/// that this process can give up. One per process, never destroyed.
class MpiStart {
 public:
  /// A transport over all ranks. Errors: Code::DeadlineExceeded with the ranks that are missing; a later call
  /// goes on waiting for the same start. After it this process ends at once when it ends, without what MPI
  /// does at an exit: the start would still be inside it.
  std::unique_ptr<Transport> finish(MpiLibrary& library, const Launch& launch,
                                    std::chrono::milliseconds deadline);

 private:
  void begin(MpiLibrary& library);
  /// Whether the start ended by the deadline.
  bool wait(std::unique_lock<std::mutex>& lock, const Launch& launch, std::chrono::milliseconds deadline);
  void end_at_once_with_process();

  std::mutex mutex_;
  std::condition_variable ended_;
  bool under_way_ = false;
  bool given_up_ = false;
  bool ends_at_once_ = false;
  std::unique_ptr<Transport> transport_;
  std::exception_ptr failure_;
};

}  // namespace foldstep::cpu
