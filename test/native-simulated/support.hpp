#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "native/check.hpp"
#include "simulated/device.hpp"

namespace foldstep::test {

inline void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory that parent and children share.
template <typename T>
class Shared {
 public:
  explicit Shared(std::size_t count) : bytes_(count * sizeof(T)) {
    data_ = static_cast<T*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (data_ == MAP_FAILED) throw std::runtime_error("no shared memory");
  }
  ~Shared() { munmap(data_, bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T& operator[](std::size_t i) const { return data_[i]; }
  T* data() const { return data_; }

 private:
  T* data_;
  std::size_t bytes_;
};

/// What became of a process.
struct Outcome {
  int status = 0;
  std::string errors;  ///< what it wrote to stderr

  bool well() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  /// Whether it touched memory that it may not; a sanitizer reports that in its own way.
  bool faulted() const {
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) || says("AddressSanitizer: SEGV");
  }
  bool says(const std::string& text) const { return errors.find(text) != std::string::npos; }
};

/// A process of its own, which sees the simulated device as `simulate` has it (FOLDSTEP_SIMULATE) and ends
/// well if `program` throws nothing.
class Process {
 public:
  Process(const std::string& simulate, const std::function<void()>& program) {
    int ends[2];
    if (pipe(ends) != 0 || (child_ = fork()) < 0) throw std::runtime_error("no process");
    if (child_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      setenv("FOLDSTEP_SIMULATE", simulate.c_str(), 1);
      alarm(30);
      try {
        program();
        _exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        _exit(1);
      }
    }
    close(ends[1]);
    errors_ = ends[0];
  }

  Outcome wait() {
    Outcome outcome;
    char part[512];
    for (ssize_t got; (got = read(errors_, part, sizeof part)) > 0;) {
      outcome.errors.append(part, static_cast<std::size_t>(got));
    }
    close(errors_);
    waitpid(child_, &outcome.status, 0);
    return outcome;
  }

 private:
  pid_t child_ = -1;
  int errors_ = -1;
};

inline Outcome play(const std::string& simulate, const std::function<void()>& program) {
  return Process(simulate, program).wait();
}

/// Plays and expects that all goes well.
inline void pass(const std::string& simulate, const std::function<void()>& program) {
  const Outcome outcome = play(simulate, program);
  if (!outcome.well()) throw std::runtime_error(simulate + ": " + outcome.errors);
}

inline cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}

/// `count` elements of device memory, copied in and out on a stream.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) { must(cudaMalloc(&data_, count * sizeof(T))); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  void write(const std::vector<T>& values) const {
    must(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    must(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

}  // namespace foldstep::test
