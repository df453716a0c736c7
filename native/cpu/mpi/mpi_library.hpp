#pragma once

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
  /// Tells the other ranks that this one ends.
  virtual void say_goodbye() = 0;
  /// Whether that world rank has said goodbye.
  virtual bool has_left(int world_rank) = 0;
  /// False while a call that was given up is inside MPI.
  virtual bool can_finalize() const = 0;
  /// Finalizes MPI. Blocks until every rank does.
  virtual void finalize() = 0;
  /// Ends the whole job, also while another thread is inside MPI.
  [[noreturn]] virtual void abort(int code) = 0;
};

/// The library's only exported symbol, of type MpiLibrary& (*)().
constexpr const char* mpi_library_symbol = "foldstep_mpi_library";

}  // namespace foldstep::cpu
