#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>

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

  void finalize(std::chrono::milliseconds deadline) override {
    Session& session = Session::get();
    session.say_goodbye();
    // MPI_Finalize waits for the other ranks too, but without sleeping, and expects that no message is left.
    const auto end = std::chrono::steady_clock::now() + deadline;
    for (int rank = 0; rank < session.size() && std::chrono::steady_clock::now() < end;) {
      if (rank == session.rank() || session.has_left(rank)) {
        ++rank;
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    }
    session.close();
  }

  [[noreturn]] void abort(int code) override { Session::get().abort(code); }
};

}  // namespace
}  // namespace foldstep::cpu

extern "C" __attribute__((visibility("default"))) foldstep::cpu::MpiLibrary& foldstep_mpi_library() {
  static auto& library = *new foldstep::cpu::Library;
  return library;
}
