#include "nccl_comm.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "errors.hpp"
#include "options.hpp"
#include "stream.hpp"

namespace foldstep::simulated {
namespace {

constexpr unsigned tags = 20'000;

/// What went wrong last, in words.
class LastError {
 public:
  void set(const std::string& text) {
    const std::lock_guard lock(mutex_);
    text_ = text;
  }
  std::string get() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

LastError& last_error() {
  static auto& last = *new LastError;
  return last;
}

bool is_blocking(const ncclConfig_t* config) {
  return config == nullptr || config->blocking != 0;  // undefined: blocking
}

/// Makes a communicator by `form`, in the background where the configuration asks for it.
ncclResult_t make(ncclComm_t* comm, const ncclConfig_t* config, std::function<void(Group&)> form) {
  const auto state = std::make_shared<CommState>(current_device(), is_blocking(config));
  const ncclResult_t result = perform(state, [state, form = std::move(form)] { form(state->group); });
  *comm = result == ncclSuccess || result == ncclInProgress ? new ncclComm{state} : nullptr;
  return result;
}

}  // namespace

void CommState::attempt(const std::function<void()>& task) {
  try {
    task();
  } catch (const NcclFailure& failure) {
    last_error().set(failure.what());
    error_ = failure.result;
  }
}

void CommState::abort() {
  const std::lock_guard lock(mutex_);
  group.abort();
}

int CommState::next_tag() {
  return static_cast<int>(operations_++ % tags);
}

ncclResult_t perform(const std::shared_ptr<CommState>& state, std::function<void()> task) {
  if (state->blocking) {
    state->attempt(task);
    return state->error();
  }
  state->set_error(ncclInProgress);
  std::thread([state, task = std::move(task)] {
    cudaSetDevice(state->device);
    state->attempt(task);
    if (state->error() == ncclInProgress) state->set_error(ncclSuccess);
  }).detach();
  return ncclInProgress;
}

void come(CommState& state) {
  const bool here = answers();
  while (!here) {
    state.group.check_alive();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace foldstep::simulated

using namespace foldstep::simulated;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
  }
  return "unknown result code";
}

/// As in NCCL, whatever the communicator.
const char* ncclGetLastError(ncclComm_t) {
  thread_local std::string text;
  text = last_error().get();
  return text.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = name_a_group();
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  *comm = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  return make(comm, config, [id, rank, ranks](Group& group) { group.form(id, rank, ranks); });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
  *part = nullptr;
  if (comm == nullptr || (color < 0 && color != NCCL_SPLIT_NOCOLOR)) return ncclInvalidArgument;
  const auto whole = comm->state;
  const int tag = whole->next_tag();
  if (color == NCCL_SPLIT_NOCOLOR) {
    Group none;
    whole->attempt([&] { none.split_from(whole->group, color, key, tag); });
    return whole->error();
  }
  return make(part, config,
              [whole, color, key, tag](Group& group) { group.split_from(whole->group, color, key, tag); });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return comm != nullptr ? ncclSuccess : ncclInvalidArgument;
}

/// Operations under way keep what they need.
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  comm->state->abort();
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr) return ncclInvalidArgument;
  *error = comm->state->error();
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (comm == nullptr) return ncclInvalidArgument;
  *count = comm->state->group.size();
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (comm == nullptr) return ncclInvalidArgument;
  *rank = comm->state->group.rank();
  return ncclSuccess;
}

}  // extern "C"
