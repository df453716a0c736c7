#include "cuda/comm/nccl_group.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "cuda/stream/backoff.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

/// What the first member tells the others.
struct Invitation {
  ncclResult_t result = ncclSuccess;
  ncclUniqueId id{};
};

Invitation invite(StreamWorker& worker, Communicator& host, const NcclLibrary& nccl) {
  const std::shared_ptr<Memory> memory = worker.context().host->allocate(sizeof(Invitation));
  Invitation invitation;
  if (host.rank() == 0) {
    invitation.result = nccl.get_unique_id(&invitation.id);
    memory->write(0, &invitation, sizeof invitation);
  }
  worker.run_on_host([&](Stream& stream) {
    host.broadcast(stream, {memory, 0}, sizeof invitation, DType::U8, 0);
  });
  memory->read(0, &invitation, sizeof invitation);
  return invitation;
}

}  // namespace

std::shared_ptr<NcclGroup> NcclGroup::create(StreamWorker& worker, Communicator& host) {
  const auto self = static_cast<std::size_t>(host.rank());
  const auto group = std::make_shared<NcclGroup>(worker.shared_context(), host.world_ranks()[self]);
  const Invitation invitation = invite(worker, host, group->nccl_);
  if (invitation.result != ncclSuccess) throw group->failure("making an id", invitation.result);
  group->initialize(worker, host.size(), invitation.id, host.rank());
  return group;
}

NcclGroup::NcclGroup(std::shared_ptr<Context> context, int world_rank)
    : context_(std::move(context)), nccl_(NcclLibrary::get()), world_rank_(world_rank) {}

NcclGroup::~NcclGroup() {
  if (communicator_ == nullptr) return;
  const auto take_down = [&nccl = nccl_, communicator = communicator_, device = context_->device,
                          deadline = context_->deadline](const Cancelled& cancelled) {
    cudaSetDevice(device);
    ncclResult_t state = nccl.finalize(communicator);
    for (Backoff backoff; state == ncclInProgress && backoff.waited() < deadline && !cancelled;
         backoff.pause()) {
      if (nccl.async_error(communicator, &state) != ncclSuccess) state = ncclInternalError;
    }
    if (state == ncclSuccess) {
      nccl.destroy(communicator);
    } else {
      nccl.abort(communicator);
    }
  };
  try {
    context_->reaper.enqueue(take_down);
    context_->reaper.notify([](std::exception_ptr) {});
  } catch (const Error&) {
    nccl_.abort(communicator_);
  }
}

void NcclGroup::initialize(StreamWorker& worker, int size, const ncclUniqueId& id, int rank) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclResult_t result = ncclSuccess;
  {
    const std::lock_guard lock(mutex_);
    result = nccl_.init_rank(&communicator_, size, id, rank, &config);
  }
  settle(worker, "bringing the group together", result);
}

void NcclGroup::run(StreamWorker& worker, std::string_view doing,
                    const std::function<ncclResult_t(ncclComm_t)>& enqueue) {
  ncclResult_t result = ncclSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (aborted_for_) throw Error(*aborted_for_);
    result = nccl_.group_start();
    if (result == ncclSuccess) {
      const ncclResult_t enqueued = enqueue(communicator_);
      result = nccl_.group_end();
      if (enqueued != ncclSuccess && enqueued != ncclInProgress) result = enqueued;
    }
  }
  settle(worker, doing, result);
}

void NcclGroup::settle(const StreamWorker& worker, std::string_view doing, ncclResult_t result) {
  for (Backoff backoff; result == ncclInProgress; backoff.pause()) {
    if (worker.closing()) {
      abort(closed());
      throw closed();
    }
    if (backoff.waited() > context_->deadline) {
      abort(late(doing));
      throw late(doing);
    }
    const std::lock_guard lock(mutex_);
    if (aborted_for_) throw Error(*aborted_for_);
    const ncclResult_t asked = nccl_.async_error(communicator_, &result);
    if (asked != ncclSuccess) result = asked;
  }
  if (result == ncclSuccess) return;
  const Error error = failure(doing, result);
  abort(error);
  throw Error(error);
}

void NcclGroup::look_after(StreamWorker& worker) {
  const auto passed = std::make_shared<Event>();
  passed->record(worker.stream());
  worker.watch([self = shared_from_this(), passed](StreamWorker& watched, const std::atomic<bool>& closing) {
    return self->watch(watched, *passed, closing);
  });
}

void NcclGroup::release(const std::function<void(ncclComm_t)>& release) {
  const std::lock_guard lock(mutex_);
  if (communicator_ != nullptr) release(communicator_);
}

std::exception_ptr NcclGroup::watch(StreamWorker& worker, const Event& passed,
                                    const std::atomic<bool>& closing) {
  constexpr std::string_view doing = "a collective";
  constexpr auto quiet = std::chrono::milliseconds(1);
  try {
    for (Backoff backoff; !passed.passed(); backoff.pause()) {
      if (closing) return give_up(worker, closed());
      if (backoff.waited() < quiet) continue;
      if (backoff.waited() > context_->deadline) return give_up(worker, late(doing));
      ncclResult_t state = ncclSuccess;
      {
        const std::lock_guard lock(mutex_);
        if (aborted_for_) continue;  // what was under way ends
        if (nccl_.async_error(communicator_, &state) != ncclSuccess) state = ncclInternalError;
      }
      if (state != ncclSuccess && state != ncclInProgress) return give_up(worker, failure(doing, state));
    }
  } catch (const Error& error) {
    abort(error);
    return std::make_exception_ptr(error);
  }
  return nullptr;
}

std::exception_ptr NcclGroup::give_up(StreamWorker& worker, const Error& error) {
  // First: nothing is computed from what does not come.
  worker.stop_kernels();
  abort(error);
  return std::make_exception_ptr(error);
}

Error NcclGroup::failure(std::string_view doing, ncclResult_t result) const {
  const char* const detail = nccl_.last_error(nullptr);
  std::string text = "NCCL failed on rank " + std::to_string(world_rank_) + " at " + std::string(doing) +
                     ": " + nccl_.error_string(result);
  if (detail != nullptr && std::strlen(detail) > 0) text += " (" + std::string(detail) + ")";
  return Error(Code::NcclFailed, text + "; NCCL_DEBUG=INFO tells more", world_rank_);
}

Error NcclGroup::late(std::string_view doing) const {
  return Error(Code::DeadlineExceeded,
               "rank " + std::to_string(world_rank_) + " met the other members, but NCCL did not end " +
                   std::string(doing) + " within " + std::to_string(context_->deadline.count()) +
                   " ms: one of them has failed, or the link is too slow for the deadline",
               world_rank_);
}

Error NcclGroup::closed() const {
  return Error(Code::Aborted,
               "the stream was closed in the middle of a collective of rank " + std::to_string(world_rank_),
               world_rank_);
}

void NcclGroup::abort(const Error& reason) {
  const std::lock_guard lock(mutex_);
  if (!aborted_for_) aborted_for_ = reason;
  if (communicator_ != nullptr) nccl_.abort(std::exchange(communicator_, nullptr));
}

}  // namespace foldstep::cuda
