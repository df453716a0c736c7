#pragma once

#include <chrono>
#include <cstdint>

namespace foldstep::simulated {

/// What FOLDSTEP_SIMULATE and FOLDSTEP_SIMULATED_DEVICES ask for (see README.md), and who this process is.
struct Options {
  std::uint64_t seed = 1;
  bool delay = false;
  bool no_driver = false;
  bool no_ipc = false;
  bool null_window = false;
  int fail_allocation = 0;  ///< counted from 1; 0: none
  bool drops = false;       ///< whether this rank stops answering
  int drop_after = 0;       ///< kernels that signal, and operations of NCCL, before it does
  std::chrono::milliseconds idle_limit{120'000};
  int devices = 1;
  int rank = 0;
};

/// Read at the first call.
const Options& options();

/// Whether this rank's signals still reach others. To be asked once a kernel that signals and once an
/// operation of NCCL.
bool answers();

}  // namespace foldstep::simulated
