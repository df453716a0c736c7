#include "cuda/stream/lane.hpp"

#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "cuda/errors.hpp"
#include "cuda/stream/patience.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

/// Things kept are given up to the watching thread in batches of this many: an event each would cost more.
constexpr std::size_t batch_size = 16;

/// Beyond the deadline of what waits for other ranks.
constexpr std::chrono::seconds device_grace{30};

/// Keeps what a device that does not come to an end may still touch until the process ends.
void abandon(std::vector<std::shared_ptr<const void>> things) {
  static auto& mutex = *new std::mutex;
  static auto& abandoned = *new std::vector<std::vector<std::shared_ptr<const void>>>;
  const std::lock_guard lock(mutex);
  abandoned.push_back(std::move(things));
}

/// The lane that the current thread watches, if it is one that does.
thread_local const Lane* watched = nullptr;

Error aborted() {
  return Error(Code::Aborted, "the stream was closed before this operation ended");
}

}  // namespace

/// What was kept up to a point of the stream; lets go of it there.
struct Lane::Batch {
  std::shared_ptr<Context> context;
  Event passed;
  std::vector<std::shared_ptr<const void>> things;

  bool has_passed() const {
    try {
      return passed.passed();
    } catch (const Error&) {
      return true;  // the device has failed and runs nothing any more
    }
  }

  ~Batch() {
    cudaSetDevice(context->device);
    for (Patience patience; !has_passed(); patience.pause()) {
      if (patience.waited() < context->deadline + device_grace) continue;
      abandon(std::move(things));
      return;
    }
  }
};

/// Device memory that serves one operation after another.
struct Lane::Spare {
  std::shared_ptr<DeviceMemory> block;
};

Lane::Lane(std::shared_ptr<Context> context)
    : context_(std::move(context)),
      status_(DeviceMemory::allocate(context_, sizeof(Status))),
      spare_(std::make_shared<Spare>()) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
}

Lane::~Lane() {
  cudaSetDevice(context_->device);
  // Returns at once; what is still running ends first.
  cudaStreamDestroy(stream_);
}

void Lane::keep(std::shared_ptr<const void> what) {
  kept_.push_back(std::move(what));
  if (kept_.size() >= batch_size) retire();
}

void Lane::retire() {
  if (kept_.empty()) return;
  auto batch = std::make_shared<Batch>();
  batch->context = context_;
  batch->passed.record(stream_);
  batch->things = std::move(kept_);
  kept_.clear();
  watcher_.enqueue([batch = std::move(batch)](const Cancelled&) {});
}

Lane::Temporary Lane::take(std::size_t bytes) {
  struct Loan {
    std::shared_ptr<Spare> spare;
    std::shared_ptr<DeviceMemory> block;
    Ledger::Entry entry;
    ~Loan() {
      if (spare) spare->block = std::move(block);
    }
  };
  const auto loan = std::make_shared<Loan>();
  loan->entry = Ledger::Entry(context_->ledger, bytes);
  if (bytes > kept_bytes) {
    loan->block = DeviceMemory::allocate(context_, bytes);
    keep(loan);
  } else {
    loan->spare = spare_;
    loan->block = std::exchange(spare_->block, nullptr);
    if (!loan->block) loan->block = DeviceMemory::allocate(context_, kept_bytes);
  }
  return {loan->block, loan};
}

void Lane::finish() {
  throw_if_closing();
  const StatusSlots::Slot slot = slots_.take();
  Event passed;
  check(cudaMemcpyAsync(slot.get(), status(), sizeof(Status), cudaMemcpyDeviceToHost, stream_),
        "reading the stream's status");
  passed.record(stream_);
  keep(slot);
  for (Patience patience; !passed.passed(); patience.pause()) throw_if_closing();
  if (slot->failed != 0) std::rethrow_exception(error_of(*slot));
}

void Lane::run_on_host(const std::function<void(Stream&)>& enqueue) {
  std::shared_ptr<Stream> host;
  {
    const std::lock_guard lock(mutex_);
    throw_if_closing();
    if (!host_stream_) host_stream_ = context_->host->create_stream();
    host = host_stream_;
  }
  const auto passed = std::make_shared<std::promise<std::exception_ptr>>();
  try {
    enqueue(*host);
    host->notify([passed](std::exception_ptr error) { passed->set_value(std::move(error)); });
  } catch (...) {
    throw_if_closing();
    throw;
  }
  if (const std::exception_ptr error = passed->get_future().get()) {
    throw_if_closing();
    std::rethrow_exception(error);
  }
}

std::uint32_t Lane::ticket_for(std::shared_ptr<Encounter> encounter) {
  const std::lock_guard lock(mutex_);
  // 0 is of a failure that the host knows of.
  if (++ticket_ == 0) ++ticket_;
  encounters_[ticket_] = std::move(encounter);
  return ticket_;
}

void Lane::watch(Watch watch) {
  watcher_.enqueue([this, self = shared_from_this(), watch = std::move(watch)](const Cancelled&) {
    watched = this;
    context_->use();
    const std::exception_ptr error = watch(*this, closing_);
    if (error && !watch_error_) watch_error_ = error;
  });
}

void Lane::stop_kernels() {
  const std::uint32_t failed = 1;
  context_->courier.copy(&status()->failed, &failed, sizeof failed);
}

void Lane::notify(Stream::Callback callback, std::exception_ptr issue_error) {
  struct Passage {
    StatusSlots::Slot slot;
    Event event;
  };
  std::shared_ptr<Passage> passage;
  try {
    context_->use();
    auto begun = std::make_shared<Passage>();
    begun->slot = slots_.take();
    check(cudaMemcpyAsync(begun->slot.get(), status(), sizeof(Status), cudaMemcpyDeviceToHost, stream_),
          "reading the stream's status");
    check(cudaMemsetAsync(status(), 0, sizeof(Status), stream_), "clearing the stream's status");
    begun->event.record(stream_);
    passage = std::move(begun);
    retire();
  } catch (...) {
    if (!issue_error) issue_error = std::current_exception();
  }
  const auto answered = [callback = std::move(callback), issue_error](std::exception_ptr error) {
    callback(error ? std::move(error) : issue_error);
  };
  try {
    watcher_.notify(
        [this, self = shared_from_this(), passage, answered, last = ticket_](std::exception_ptr cut_off) {
          std::exception_ptr error = std::exchange(watch_error_, nullptr);
          try {
            if (cut_off) std::rethrow_exception(cut_off);
            context_->use();
            if (passage) {
              for (Patience patience; !passage->event.passed(); patience.pause()) {
              }
              if (passage->slot->failed != 0 && !error) error = error_of(*passage->slot);
            }
          } catch (...) {
            if (!error) error = std::current_exception();
          }
          forget_encounters(last);
          answered(std::move(error));
        });
  } catch (const Error&) {
    answered(std::make_exception_ptr(aborted()));
  }
}

std::exception_ptr Lane::error_of(const Status& status) {
  std::shared_ptr<Encounter> encounter;
  {
    const std::lock_guard lock(mutex_);
    const auto found = encounters_.find(status.ticket);
    if (found != encounters_.end()) encounter = found->second;
  }
  if (encounter) return encounter->fail(status);
  return std::make_exception_ptr(
      Error(Code::Aborted, "an operation before this one has failed, and its error has been reported"));
}

void Lane::forget_encounters(std::uint32_t last) {
  std::map<std::uint32_t, std::shared_ptr<Encounter>> past;
  const std::lock_guard lock(mutex_);
  const auto end = encounters_.upper_bound(last);
  while (encounters_.begin() != end) past.insert(encounters_.extract(encounters_.begin()));
}

void Lane::throw_if_closing() const {
  if (closing()) throw aborted();
}

void Lane::begin_close() {
  std::shared_ptr<Stream> host;
  {
    const std::lock_guard lock(mutex_);
    closing_.store(true);
    host = host_stream_;
  }
  if (host) host->close();
}

void Lane::end_close() {
  try {
    context_->use();
    if (cudaStreamQuery(stream_) == cudaErrorNotReady) {
      cudaGetLastError();
      std::map<std::uint32_t, std::shared_ptr<Encounter>> waiting;
      {
        const std::lock_guard lock(mutex_);
        waiting = encounters_;
      }
      for (const auto& [ticket, encounter] : waiting) encounter->cancel();
    }
    retire();
  } catch (const Error&) {
    // The device has failed: nothing waits any more.
  }
  // Behind everything that is watched; then the thread has nothing left that it could drop.
  const auto drained = std::make_shared<std::promise<void>>();
  try {
    watcher_.notify([drained](std::exception_ptr) { drained->set_value(); });
  } catch (const Error&) {
    return;  // closed already
  }
  if (watched != this) drained->get_future().wait();
  watcher_.close();
}

}  // namespace foldstep::cuda
