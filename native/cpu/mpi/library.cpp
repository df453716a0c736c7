#include <mpi.h>

#include <array>
#include <string>

#include "cpu/mpi/mpi_library.hpp"
#include "cpu/mpi/mpi_transport.hpp"
#include "cpu/mpi/session.hpp"

namespace foldstep::cpu {
namespace {

class Library final : public MpiLibrary {
 public:
  std::unique_ptr<Transport> initialize() override {
    Session::get().open();
    return MpiTransport::of_world();
  }

  std::string version() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    Session::get().call("MPI_Get_library_version",
                        [&] { return MPI_Get_library_version(text.data(), &length); });
    const std::string whole(text.data(), static_cast<std::size_t>(length));
    return whole.substr(0, whole.find_first_of(",\n"));
  }

  void say_goodbye() override { Session::get().say_goodbye(); }
  bool has_left(int world_rank) override { return Session::get().has_left(world_rank); }
  bool can_finalize() const override { return !Session::get().blocked(); }
  void finalize() override { Session::get().close(); }

  [[noreturn]] void abort(int code) override { Session::get().abort(code); }
};

}  // namespace
}  // namespace foldstep::cpu

extern "C" __attribute__((visibility("default"))) foldstep::cpu::MpiLibrary& foldstep_mpi_library() {
  static auto& library = *new foldstep::cpu::Library;
  return library;
}
