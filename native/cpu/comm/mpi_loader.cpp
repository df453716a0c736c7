#include "cpu/comm/mpi_loader.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

std::string library_path() {
  if (const char* named = std::getenv("FOLDSTEP_MPI_PLUGIN")) return named;
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&load_mpi_library), &info);
  return (std::filesystem::path(info.dli_fname).parent_path() / "foldstep_mpi.so").string();
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(
      Code::MpiUnavailable,
      "an MPI launcher started this process, or MPI was asked for, but foldstep cannot use MPI: " + what +
          "; install MPI (Debian: apt-get install openmpi-bin libopenmpi-dev) and rebuild with `npm run "
          "build:native`, or ask for the launcher 'none' to run alone");
}

}  // namespace

MpiLibrary& load_mpi_library() {
  const std::string path = library_path();
  if (!std::filesystem::exists(path)) fail("its MPI part, " + path + ", is not built");
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail(dlerror());
  const auto entry = reinterpret_cast<MpiLibrary& (*)()>(dlsym(handle, mpi_library_symbol));
  if (entry == nullptr) fail(path + " is not foldstep's MPI part");
  return entry();
}

}  // namespace foldstep::cpu
