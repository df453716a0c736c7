// Started without a launcher: one rank, no MPI, and what is said when MPI is asked for and is not there.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "job.hpp"

using namespace foldstep;
using namespace foldstep::test;

int main(int, char** arguments) {
  Job job;
  job.test("without a launcher there is one rank and no MPI", [&] {
    expect(job.world.communicator->size() == 1 && job.world.communicator->rank() == 0, "one rank");
    expect(job.world.library == "none" && job.world.node == 0 && job.world.local_size == 1, "alone");
  });
  job.test("every user alone has a world of its own",
           [&] { expect(open_world({}).communicator != job.world.communicator, "not shared"); });
  const auto refused = [](const char* plugin) {
    setenv("FOLDSTEP_MPI_PLUGIN", plugin, 1);
    const Error error = expect_error(Code::MpiUnavailable, [] {
      open_world({Launcher::Mpi, std::chrono::milliseconds(1000)});
    });
    expect_text(error, plugin);
    expect_text(error, "apt-get install openmpi-bin libopenmpi-dev");
    expect_text(error, "npm run build:native");
  };
  job.test("MPI part not built", [&] { refused("/nonexistent/foldstep_mpi.so"); });
  job.test("MPI part that does not load", [&] { refused(arguments[0]); });
  job.test("MPI part that is another library", [&] {
    Dl_info info{};
    expect(dladdr(reinterpret_cast<const void*>(&std::puts), &info) != 0, "the C library's file");
    refused(info.dli_fname);
  });
  job.test("a launcher's mark asks for MPI", [] {
    setenv("PMI_RANK", "0", 1);
    expect_error(Code::MpiUnavailable, [] { open_world({}); });
    unsetenv("PMI_RANK");
    setenv("SLURM_JOB_ID", "1", 1);
    expect(open_world({}).communicator->size() == 1, "an allocation alone does not");
  });
  job.test("closing what is not open does nothing", [] {
    close_world(0);
    close_world(3);
  });
  return job.end();
}
