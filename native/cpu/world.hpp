#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/communicator.hpp"
#include "runtime/names.hpp"

namespace foldstep {

enum class Launcher {
  Auto,  ///< MPI if this process was started by an MPI launcher, else None
  Mpi,
  None,  ///< one rank, no MPI library touched
};
template <>
struct Names<Launcher> {
  static constexpr std::array<std::string_view, 3> all{"auto", "mpi", "none"};
};

struct WorldOptions {
  Launcher launcher = Launcher::Auto;
  std::chrono::milliseconds deadline{60'000};
  /// Of a rank that ends well and waits for others: this long after the deadline it ends the job.
  std::chrono::milliseconds exit_timeout{600'000};
};

/// All ranks of the job. Process-wide: it is opened once and outlives every environment that uses it.
struct World {
  std::shared_ptr<Communicator> communicator;
  std::string library;  ///< of MPI, with its version; "none" if alone
  int node = 0;         ///< lowest world rank among those that share memory with this one
  int local_rank = 0;   ///< among the ranks of the node
  int local_size = 1;
};

/// Whether open_world would join a job of MPI's.
bool joins_mpi(Launcher launcher);

/// Opens the world or returns the one that is open. Blocks until every rank has come. Errors:
/// Code::MpiUnavailable if an MPI launcher started this process but the MPI part of foldstep is not built or
/// does not load.
World open_world(const WorldOptions& options);

/// This process's rank in a world of MPI's; -1 where none has been opened. From any thread.
int world_rank();

/// At the end of the process, on the main thread. exit_code 0: tells the other ranks that this one has gone,
/// waits until they go too and finalizes MPI; after the deadline it tells on stderr who is still running, and
/// after the exit timeout it ends the job with 1. Otherwise takes the whole job down with that code, or with
/// 1 where a host would read it as 0, and does not return. Nothing if no MPI world is open.
void close_world(int exit_code);

}  // namespace foldstep
