#include "cuda/stream/stream_worker.hpp"

#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "cuda/errors.hpp"
#include "cuda/stream/backoff.hpp"
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

/// The worker that the current thread watches, if it is one that does.
thread_local const StreamWorker* watched = nullptr;

Error aborted() {
  return Error(Code::Aborted, "the stream was closed before this operation ended");
}

}  // namespace

/// What was kept up to a point of the stream; lets go of it there.
struct StreamWorker::Batch {
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
    for (Backoff backoff; !has_passed(); backoff.pause()) {
      if (backoff.waited() < context->deadline + device_grace) continue;
      abandon(std::move(things));
      return;
    }
  }
};

/// Device memory that serves one operation after another.
struct StreamWorker::Spare {
  std::shared_ptr<DeviceMemory> block;
};

StreamWorker::StreamWorker(std::shared_ptr<Context> context)
    : context_(std::move(context)),
      status_(DeviceMemory::allocate(context_, sizeof(Status))),
      spare_(std::make_shared<Spare>()) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
}

StreamWorker::~StreamWorker() {
  cudaSetDevice(context_->device);
  // Returns at once; what is still running ends first.
  cudaStreamDestroy(stream_);
}

void StreamWorker::keep(std::shared_ptr<const void> what) {
  kept_.push_back(std::move(what));
  if (kept_.size() >= batch_size) retire();
}

void StreamWorker::retire() {
  if (kept_.empty()) return;
  auto batch = std::make_shared<Batch>();
  batch->context = context_;
  batch->passed.record(stream_);
  batch->things = std::move(kept_);
  kept_.clear();
  watcher_.enqueue([batch = std::move(batch)](const Cancelled&) {});
}

StreamWorker::Temporary StreamWorker::take(std::size_t bytes) {
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

void StreamWorker::finish() {
  throw_if_closing();
  const StatusSlots::Slot slot = slots_.take();
  Event passed;
  check(cudaMemcpyAsync(slot.get(), status(), sizeof(Status), cudaMemcpyDeviceToHost, stream_),
        "reading the stream's status");
  passed.record(stream_);
  keep(slot);
  for (Backoff backoff; !passed.passed(); backoff.pause()) throw_if_closing();
  if (slot->failed != 0) std::rethrow_exception(meetings_.error_of(*slot));
}

void StreamWorker::run_on_host(const std::function<void(Stream&)>& enqueue) {
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

void StreamWorker::watch(Watch watch) {
  watcher_.enqueue([this, self = shared_from_this(), watch = std::move(watch)](const Cancelled&) {
    watched = this;
    context_->use();
    const std::exception_ptr error = watch(*this, closing_);
    if (error && !watch_error_) watch_error_ = error;
  });
}

void StreamWorker::stop_kernels() {
  const std::uint32_t failed = 1;
  context_->side_stream.copy(&status()->failed, &failed, sizeof failed);
}

void StreamWorker::notify(Stream::Callback callback, std::exception_ptr issue_error) {
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
    watcher_.notify([this, self = shared_from_this(), passage, answered,
                     last = meetings_.last_ticket()](std::exception_ptr cut_off) {
      std::exception_ptr error = std::exchange(watch_error_, nullptr);
      try {
        if (cut_off) std::rethrow_exception(cut_off);
        context_->use();
        if (passage) {
          for (Backoff backoff; !passage->event.passed(); backoff.pause()) {
          }
          if (passage->slot->failed != 0 && !error) error = meetings_.error_of(*passage->slot);
        }
      } catch (...) {
        if (!error) error = std::current_exception();
      }
      meetings_.forget(last);
      answered(std::move(error));
    });
  } catch (const Error&) {
    answered(std::make_exception_ptr(aborted()));
  }
}

void StreamWorker::throw_if_closing() const {
  if (closing()) throw aborted();
}

void StreamWorker::begin_close() {
  std::shared_ptr<Stream> host;
  {
    const std::lock_guard lock(mutex_);
    closing_.store(true);
    host = host_stream_;
  }
  if (host) host->close();
}

void StreamWorker::end_close() {
  try {
    context_->use();
    if (cudaStreamQuery(stream_) == cudaErrorNotReady) {
      cudaGetLastError();
      meetings_.cancel();
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
