#include "cpu/mpi/session.hpp"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

/// Node loads addons with RTLD_LOCAL, which hides MPI's symbols from those of its plugins that are not linked
/// to it.
void show_symbols_to_plugins() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&MPI_Init_thread), &info) != 0 && info.dli_fname != nullptr) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  }
}

}  // namespace

Session& Session::get() {
  static auto& session = *new Session;
  return session;
}

void Session::check_open() const {
  if (phase_ == Phase::Open) return;
  throw Error(Code::Disposed, "MPI has been finalized; nothing can be sent to other ranks any more", rank_);
}

void Session::check(const char* what, int result) const {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw Error(Code::MpiFailed,
              std::string(what) + " failed on rank " + std::to_string(rank_) + ": " +
                  std::string(text.data(), static_cast<std::size_t>(length)),
              rank_);
}

void Session::open() {
  const std::lock_guard lock(mutex_);
  int initialized = 0;
  check("MPI_Initialized", MPI_Initialized(&initialized));
  if (initialized != 0) {
    throw Error(Code::MpiFailed, "something else in this process has initialized MPI; let foldstep do it");
  }
  show_symbols_to_plugins();
  int level = MPI_THREAD_SINGLE;
  check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level));
  if (level < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    throw Error(Code::MpiFailed,
                "this MPI library was built without threads (MPI_THREAD_SERIALIZED is needed); install one "
                "that has them");
  }
  concurrent_ = level == MPI_THREAD_MULTIPLE;
  int size = 0;
  check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  check("MPI_Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
  check("MPI_Comm_size", MPI_Comm_size(MPI_COMM_WORLD, &size));
  check("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &farewells_));
  check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(farewells_, MPI_ERRORS_RETURN));
  left_.assign(static_cast<std::size_t>(size), false);
  phase_ = Phase::Open;
}

void Session::say_goodbye() {
  call("MPI_Isend", [this] {
    for (int step = 1; step < size(); ++step) {
      MPI_Request& request = farewells_sent_.emplace_back(MPI_REQUEST_NULL);
      const int result = MPI_Isend(nullptr, 0, MPI_BYTE, (rank_ + step) % size(), 0, farewells_, &request);
      if (result != MPI_SUCCESS) return result;
    }
    return MPI_SUCCESS;
  });
}

bool Session::has_left(int world_rank) {
  bool left = false;
  call("MPI_Iprobe", [&] {
    while (true) {
      int found = 0;
      MPI_Status status;
      int result = MPI_Iprobe(MPI_ANY_SOURCE, 0, farewells_, &found, &status);
      left = left_[static_cast<std::size_t>(world_rank)];
      if (result != MPI_SUCCESS || found == 0 || left) return result;
      result = MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, 0, farewells_, MPI_STATUS_IGNORE);
      if (result != MPI_SUCCESS) return result;
      left_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
    }
  });
  return left;
}

void Session::close() {
  call("MPI_Finalize", [this] {
    int sent = 0;
    const int result = MPI_Testall(static_cast<int>(farewells_sent_.size()), farewells_sent_.data(), &sent,
                                   MPI_STATUSES_IGNORE);
    if (result != MPI_SUCCESS) return result;
    phase_ = Phase::Closed;
    return MPI_Finalize();
  });
}

void Session::abort(int code) {
  if (phase_ != Phase::Closed) {
    // Another thread may be inside a call that does not return because of what this abort ends.
    for (int attempt = 0; attempt < 500 && !mutex_.try_lock(); ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  std::_Exit(code);
}

}  // namespace foldstep::cpu
