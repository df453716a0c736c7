#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cpu/comm/transport.hpp"

namespace foldstep::cpu {

/// What foldstep_mpi.so offers. It alone knows MPI, so the rest loads where there is none. One per process,
/// never destroyed. Errors: Code::MpiFailed; from transports also Code::Disposed once MPI is finalized.
class MpiLibrary {
 public:
  virtual ~MpiLibrary() = default;

  /// Initializes MPI and gives a transport over all ranks. Blocks until every rank has come. Once per
  /// process.
  virtual std::unique_ptr<Transport> initialize() = 0;
  /// Name and version of the MPI library.
  virtual std::string version() const = 0;
  /// Says goodbye to the other ranks, waits for theirs until the deadline, and finalizes MPI.
  virtual void finalize(std::chrono::milliseconds deadline) = 0;
  /// Ends the whole job.
  [[noreturn]] virtual void abort(int code) = 0;
};

/// The library's only exported symbol, of type MpiLibrary& (*)().
constexpr const char* mpi_library_symbol = "foldstep_mpi_library";

}  // namespace foldstep::cpu
