#include "cuda/stream/cuda_stream.hpp"

#include <utility>

namespace foldstep::cuda {

namespace {

std::shared_ptr<StreamWorker> create_worker(std::shared_ptr<Context> context) {
  context->use();
  return std::make_shared<StreamWorker>(std::move(context));
}

}  // namespace

CudaStream::CudaStream(std::shared_ptr<Context> context) : worker_(create_worker(std::move(context))) {}

void CudaStream::enqueue(Task task) {
  issuing_.enqueue(
      [worker = worker_, task = std::make_shared<const Task>(std::move(task))](const Cancelled&) {
        worker->context().use();
        try {
          (*task)(*worker);
        } catch (...) {
          // Some of it may have been issued.
          worker->keep(task);
          throw;
        }
        worker->keep(task);
      });
}

void CudaStream::notify(Callback callback) {
  issuing_.notify([worker = worker_, callback = std::move(callback)](std::exception_ptr error) mutable {
    worker->notify(std::move(callback), std::move(error));
  });
}

void CudaStream::close() {
  worker_->begin_close();
  issuing_.close();
  worker_->end_close();
}

}  // namespace foldstep::cuda
