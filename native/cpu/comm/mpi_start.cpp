#include "cpu/comm/mpi_start.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/comm/exit_code.hpp"
#include "cpu/comm/presence.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

constexpr std::chrono::milliseconds look_around_interval{100};

/// Of the others. A rank is held for the cause only where this host can know it.
Absence explain_missing(const Launch& launch) {
  using State = Sighting::State;
  Presence& presence = Presence::get();
  if (launch.rank < 0 || presence.look_for(launch.rank).state == State::Unknown) {
    return {"its launcher does not tell by what the missing ones could be found", -1};
  }
  std::vector<int> missing;
  for (int rank = 0; rank < launch.size; ++rank) {
    if (presence.look_for(rank).state != State::Here) missing.push_back(rank);
  }
  if (missing.empty()) {
    return {launch.on_one_host() ? "every rank has called init(), and some are slow in it"
                                 : "every rank that this host can see has called init()",
            -1};
  }
  Absence absence = presence.explain(missing);
  if (!launch.on_one_host() && presence.look_for(absence.rank).state == State::NotCome) absence.rank = -1;
  return absence;
}

}  // namespace

std::unique_ptr<Transport> MpiStart::finish(MpiLibrary& library, const Launch& launch,
                                            std::chrono::milliseconds deadline) {
  std::unique_lock lock(mutex_);
  if (!under_way_) begin(library);
  if (!wait(lock, launch, deadline)) {
    given_up_ = true;
    end_at_once_with_process();
    const Absence absence = explain_missing(launch);
    throw Error(Code::DeadlineExceeded,
                "MPI did not start within " + std::to_string(deadline.count()) + " ms, for it waits until " +
                    "every rank has called init(): " + absence.text +
                    " (a longer deadline, init({ deadlineMs }), helps if the others are only slow)",
                launch.rank, absence.rank);
  }
  given_up_ = false;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return std::move(transport_);
}

bool MpiStart::wait(std::unique_lock<std::mutex>& lock, const Launch& launch,
                    std::chrono::milliseconds deadline) {
  const auto begin = std::chrono::steady_clock::now();
  while (under_way_) {
    // In whole milliseconds: the longest deadlines do not fit into nanoseconds.
    const auto waited = std::chrono::steady_clock::now() - begin;
    const auto left = deadline - std::chrono::duration_cast<std::chrono::milliseconds>(waited);
    if (left <= left.zero()) return false;
    // Others give up at about the same time: who is looked for only then may have come and gone.
    Presence::get().look_around(launch.size);
    ended_.wait_for(lock, std::min(left, look_around_interval));
  }
  return true;
}

void MpiStart::begin(MpiLibrary& library) {
  under_way_ = true;
  std::thread([this, &library] {
    std::unique_ptr<Transport> transport;
    std::exception_ptr failure;
    try {
      transport = library.initialize();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    transport_ = std::move(transport);
    failure_ = failure;
    under_way_ = false;
    ended_.notify_all();
  }).detach();
}

void MpiStart::end_at_once_with_process() {
  if (std::exchange(ends_at_once_, true)) return;
  on_exit(
      [](int status, void* self) {
        if (!static_cast<MpiStart*>(self)->given_up_) return;
        std::_Exit(status == 0 ? 0 : code_of_failure(status));
      },
      this);
}

}  // namespace foldstep::cpu
