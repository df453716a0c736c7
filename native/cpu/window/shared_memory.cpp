#include "cpu/window/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/error.hpp"

namespace foldstep::cpu {

namespace {

/// Owns a file descriptor until release().
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

int open_retrying(const std::string& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = open(path.c_str(), flags, 0600);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

void* map(int descriptor, std::size_t bytes) {
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapping == MAP_FAILED) {
    throw Error(Code::OutOfMemory,
                "cannot map " + std::to_string(bytes) + " bytes of shared memory: " + std::strerror(errno));
  }
  madvise(mapping, bytes, MADV_HUGEPAGE);  // a wish: kernels without huge pages refuse it
  return mapping;
}

[[noreturn]] void throw_unavailable(const std::string& directory, int error) {
  throw Error(Code::SharedMemoryUnavailable, "cannot make shared memory in " + directory + ": " +
                                                 std::strerror(error) +
                                                 "; set FOLDSTEP_SHM_DIR to a writable directory of a tmpfs");
}

[[noreturn]] void throw_too_small(const std::string& directory, std::size_t wanted) {
  const SharedMemorySpace space = shared_memory_space();
  throw Error(
      Code::SharedMemoryTooSmall,
      directory + " is too small: this rank wants " + std::to_string(wanted) +
          " bytes of shared memory, the file system has " + std::to_string(space.free) + " free of " +
          std::to_string(space.total) +
          "; make it larger (mount -o remount,size=..., docker --shm-size=...) or set FOLDSTEP_SHM_DIR to a "
          "directory of a larger tmpfs");
}

void allocate_pages(int descriptor, std::size_t bytes, const std::string& directory) {
  int error = 0;
  do {
    error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error == ENOSPC || error == EFBIG) throw_too_small(directory, bytes);
  if (error != 0) throw_unavailable(directory, error);
}

}  // namespace

std::string shared_memory_directory() {
  const char* const chosen = std::getenv("FOLDSTEP_SHM_DIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/dev/shm";
}

SharedMemorySpace shared_memory_space() {
  struct statvfs info {};
  if (statvfs(shared_memory_directory().c_str(), &info) != 0) return {};
  return {std::uint64_t{info.f_bavail} * info.f_frsize, std::uint64_t{info.f_blocks} * info.f_frsize};
}

std::shared_ptr<SharedSegment> SharedSegment::create(std::size_t bytes) {
  const std::string directory = shared_memory_directory();
  Descriptor file(open_retrying(directory, O_TMPFILE | O_RDWR | O_CLOEXEC));
  if (file.get() < 0) throw_unavailable(directory, errno);
  allocate_pages(file.get(), bytes, directory);
  void* const mapping = map(file.get(), bytes);
  return std::make_shared<SharedSegment>(mapping, bytes, file.release());
}

std::shared_ptr<SharedSegment> SharedSegment::attach(const SegmentAddress& address) {
  const std::string path =
      "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.descriptor);
  const Descriptor file(open_retrying(path, O_RDWR | O_CLOEXEC));
  if (file.get() < 0) {
    throw Error(Code::SharedMemoryUnavailable,
                "cannot open the shared memory of process " + std::to_string(address.pid) + " (" + path +
                    "): " + std::strerror(errno) +
                    "; ranks that share memory must run as one user and see each other in /proc");
  }
  struct stat info {};
  const bool same = fstat(file.get(), &info) == 0 && info.st_dev == address.device &&
                    info.st_ino == address.inode && info.st_uid == address.owner &&
                    static_cast<std::uint64_t>(info.st_size) == address.bytes;
  if (!same) {
    throw Error(Code::SharedMemoryUnavailable,
                path + " is not the shared memory that process " + std::to_string(address.pid) +
                    " made; ranks that share memory must run in one process-id namespace");
  }
  return std::make_shared<SharedSegment>(map(file.get(), address.bytes), address.bytes, -1);
}

SharedSegment::SharedSegment(void* mapping, std::size_t bytes, int descriptor)
    : data_(static_cast<std::byte*>(mapping)), bytes_(bytes), descriptor_(descriptor) {}

SharedSegment::~SharedSegment() {
  close_descriptor();
  munmap(data_, bytes_);
}

SegmentAddress SharedSegment::address() const {
  struct stat info {};
  fstat(descriptor_, &info);
  return {getpid(), descriptor_, info.st_uid, info.st_dev, info.st_ino, bytes_};
}

void SharedSegment::close_descriptor() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace foldstep::cpu
