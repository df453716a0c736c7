#pragma once

#include <functional>
#include <memory>

#include "cuda/stream/stream_worker.hpp"
#include "runtime/stream.hpp"
#include "runtime/task_thread.hpp"

namespace foldstep::cuda {

/// A CUDA stream and the thread that issues its operations in order, since some have to wait for other ranks
/// before they can be issued.
class CudaStream final : public Stream {
 public:
  /// Issues an operation; throws foldstep::Error. What it holds lives until the stream has passed what it
  /// issued.
  using Task = std::function<void(StreamWorker&)>;

  explicit CudaStream(std::shared_ptr<Context> context);
  ~CudaStream() override { close(); }

  void enqueue(Task task);
  void* native_handle() const override { return worker_->stream(); }
  void notify(Callback callback) override;
  void close() override;

  /// The stream behind the interface: this backend's operations only ever meet its own streams.
  static CudaStream& of(Stream& stream) { return static_cast<CudaStream&>(stream); }

 private:
  std::shared_ptr<StreamWorker> worker_;
  TaskThread issuing_;
};

}  // namespace foldstep::cuda
