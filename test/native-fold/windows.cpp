// Windows over real processes: what is in them, what they refuse, what they leave behind.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "cpu/window/shared_memory.hpp"
#include "fold_job.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

/// Sets FOLDSTEP_SHM_DIR to a new directory below the usual one, for as long as it lives.
class OwnDirectory {
 public:
  OwnDirectory() {
    std::string path = cpu::shared_memory_directory() + "/foldstep-test-XXXXXX";
    expect(mkdtemp(path.data()) != nullptr, "no directory can be made in " + path);
    path_ = path;
    setenv("FOLDSTEP_SHM_DIR", path_.c_str(), 1);
  }
  ~OwnDirectory() {
    unsetenv("FOLDSTEP_SHM_DIR");
    umount2(path_.c_str(), MNT_DETACH);
    std::filesystem::remove(path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace

int main() {
  FoldJob job;
  const std::shared_ptr<Communicator>& world = job.world.communicator;
  const bool last = job.rank() == job.size() - 1;

  job.test("a slab is zeroed, page-aligned and as large as asked for", [&] {
    const std::shared_ptr<PeerWindow> window = job.window(world, 12345);
    const std::shared_ptr<Memory> slab = window->slab();
    expect(slab->bytes() == 12345, "bytes");
    expect(reinterpret_cast<std::uintptr_t>(slab->data()) % 4096 == 0, "alignment");
    for (std::size_t i = 0; i < slab->bytes(); ++i) expect(slab->data()[i] == std::byte{0}, "not zeroed");
    expect(window->world_ranks() == world->world_ranks(), "ranks");
  });

  job.test("a slab outlives its window, and an empty window works", [&] {
    std::shared_ptr<Memory> slab;
    {
      const std::shared_ptr<PeerWindow> window = job.window(world, 8192);
      slab = window->slab();
    }
    std::fill_n(slab->data(), slab->bytes(), std::byte{7});
    expect(job.window(world, 0)->slab()->bytes() == 0, "bytes");
  });

  job.test("a window has no name in its directory and keeps no descriptor", [&] {
    const OwnDirectory directory;
    const int before = open_descriptors();
    const std::shared_ptr<PeerWindow> window = job.window(world, 1 << 20);
    expect(std::filesystem::is_empty(directory.path()), "a file is there");
    expect(open_descriptors() == before, "a descriptor was left open");
  });

  job.test("another size on one rank is shown to every member", [&] {
    const std::shared_ptr<Communicator> group = split(job.stream, *world, 0);
    const Error error = expect_error(Code::OperationMismatch, [&] { job.window(group, last ? 4096 : 8192); });
    expect_text(error, "4096");
    expect_text(error, "8192");
  });

  job.test("more than the file system has is a typed error on every member", [&] {
    const std::size_t wanted = cpu::shared_memory_space().total;
    const Error error = expect_error(Code::SharedMemoryTooSmall, [&] { job.window(world, wanted); });
    expect_text(error, "too small");
    expect_text(error, "--shm-size");
    job.window(world, 4096);
  });

  job.test("a directory that is not there on one rank is a typed error on every member", [&] {
    if (last) setenv("FOLDSTEP_SHM_DIR", "/no/such/directory", 1);
    const auto error = expect_error(Code::SharedMemoryUnavailable, [&] { job.window(world, 4096); });
    unsetenv("FOLDSTEP_SHM_DIR");
    expect(error.peer() == job.size() - 1, "the peer is " + std::to_string(error.peer()));
    expect_text(error, "/no/such/directory");
    expect_error(Code::InvalidLength, [&] { job.window(world, ~std::size_t{0}); });
  });

  if (geteuid() == 0) {
    job.test("a tmpfs of 1 MB on one rank is a typed error on every member, and no signal", [&] {
      const OwnDirectory directory;
      if (last) {
        // On this thread's own mount table: nobody else sees it, and it is gone with the thread.
        expect(unshare(CLONE_NEWNS) == 0, "no mount table of its own");
        expect(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "not private");
        expect(mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=1m") == 0, "no tmpfs");
      }
      cpu::CpuStream stream;  // its thread has this thread's mount table
      const auto create = [&](std::size_t bytes) {
        job.backend->create_window(stream, world, bytes, [](const std::shared_ptr<PeerWindow>&) {});
        finish(stream);
      };
      const Error error = expect_error(Code::SharedMemoryTooSmall, [&] { create(4 << 20); });
      expect_text(error, std::to_string(1 << 20));
      create(512 << 10);
    });
  }
  return job.end();
}
