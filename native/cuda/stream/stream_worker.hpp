#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/context.hpp"
#include "cuda/kernels/kernels.hpp"
#include "cuda/memory/device_memory.hpp"
#include "cuda/stream/event.hpp"
#include "cuda/stream/pending_meetings.hpp"
#include "cuda/stream/plan_cache.hpp"
#include "cuda/stream/status_slots.hpp"
#include "runtime/stream.hpp"
#include "runtime/task_thread.hpp"

namespace foldstep::cuda {

/// A cudaStream_t, and what its operations need while they are issued and until they have run. Everything but
/// begin_close and end_close is called on the thread that issues.
class StreamWorker : public std::enable_shared_from_this<StreamWorker> {
 public:
  /// Errors: Code::DeviceFailed, OutOfMemory.
  explicit StreamWorker(std::shared_ptr<Context> context);
  ~StreamWorker();
  StreamWorker(const StreamWorker&) = delete;
  StreamWorker& operator=(const StreamWorker&) = delete;

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  cudaStream_t stream() const { return stream_; }
  Status* status() const { return reinterpret_cast<Status*>(status_->data()); }
  /// Launch settings for kernels on this stream.
  Launch launch() const { return {stream_, context_->properties.multiProcessorCount, status()}; }
  PlanCache& plans() { return plans_; }

  /// Holds `what` until the stream has passed everything issued so far and with it.
  void keep(std::shared_ptr<const void> what);

  /// Device memory for the operation that is being issued, counted in the ledger.
  struct Temporary {
    std::shared_ptr<DeviceMemory> memory;
    std::shared_ptr<const void> loan;
    std::byte* data() const { return memory->data(); }
  };
  /// Not zeroed. One of up to `kept_bytes` serves one operation after another, in the order of the stream.
  Temporary take(std::size_t bytes);
  static constexpr std::size_t kept_bytes = std::size_t{2} << 20;

  /// Waits until everything issued so far has run. Errors: what a kernel has written into the status,
  /// Code::DeviceFailed, Aborted if the stream is being closed.
  void finish();
  /// `enqueue` puts operations on a stream of the host's backend; waits until they have run. Errors: theirs,
  /// Code::Aborted if the stream is being closed.
  void run_on_host(const std::function<void(Stream&)>& enqueue);

  /// The meetings on this stream that wait for other ranks.
  PendingMeetings& meetings() { return meetings_; }

  /// Looks after what was issued, on the thread that watches, until it has passed; null if all went well.
  /// Must end it and give up soon once `closing` is set.
  using Watch = std::function<std::exception_ptr(StreamWorker& worker, const std::atomic<bool>& closing)>;
  void watch(Watch watch);
  /// From a watch that is about to give up: kernels behind what it watches do nothing.
  void stop_kernels();

  /// Calls back on the watching thread when everything issued so far has run; with the first error on the
  /// device, or else `issue_error`.
  void notify(Stream::Callback callback, std::exception_ptr issue_error);

  bool closing() const { return closing_.load(std::memory_order_relaxed); }
  /// Throws Code::Aborted once the stream is being closed.
  void throw_if_closing() const;
  /// Ends what the issuing thread waits for.
  void begin_close();
  /// Once nothing is issued any more: ends what waits for other ranks, and waits for the rest.
  void end_close();

 private:
  struct Batch;
  struct Spare;

  void retire();

  std::shared_ptr<Context> context_;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<DeviceMemory> status_;
  StatusSlots slots_;
  PendingMeetings meetings_;
  PlanCache plans_;
  std::shared_ptr<Spare> spare_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::exception_ptr watch_error_;  // of the watching thread
  std::atomic<bool> closing_{false};
  std::mutex mutex_;  // of what follows
  std::shared_ptr<Stream> host_stream_;
  TaskThread watcher_;
};

}  // namespace foldstep::cuda
