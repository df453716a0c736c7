#include "cpu/comm/mpi_loader.hpp"

#include <stdexcept>
#include <string>

#include "runtime/error.hpp"
#include "runtime/plugin.hpp"

namespace foldstep::cpu {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(
      Code::MpiUnavailable,
      "an MPI launcher started this process, or MPI was asked for, but foldstep cannot use MPI: " + what +
          "; install MPI (Debian: apt-get install openmpi-bin libopenmpi-dev) and rebuild with `npm run "
          "build:native`, or ask for the launcher 'none' to run alone");
}

}  // namespace

MpiLibrary& load_mpi_library() {
  try {
    const Plugin plugin("foldstep_mpi.so", "FOLDSTEP_MPI_PLUGIN");
    return plugin.function<MpiLibrary&()>(mpi_library_symbol)();
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
}

}  // namespace foldstep::cpu
