#include "stream.hpp"

#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "options.hpp"

namespace foldstep::simulated {
namespace {

struct Streams {
  std::mutex mutex;
  std::set<cudaStream_t> all;
  unsigned created = 0;
  Random random_of_null{options().seed};

  static Streams& get() {
    static auto& streams = *new Streams;
    return streams;
  }
  std::vector<cudaStream_t> list(bool all_kinds) {
    const std::lock_guard lock(mutex);
    std::vector<cudaStream_t> found;
    for (cudaStream_t stream : all) {
      if (all_kinds || stream->synchronizes_with_null()) found.push_back(stream);
    }
    return found;
  }
  bool has(cudaStream_t stream) {
    const std::lock_guard lock(mutex);
    return all.count(stream) != 0;
  }
};

std::uint64_t seed_of(unsigned number) {
  return options().seed + 1000 * static_cast<std::uint64_t>(options().rank) + 1'000'000 * (number + 1ULL);
}

}  // namespace

void Moment::reach() {
  const std::lock_guard lock(mutex_);
  reached_ = true;
  changed_.notify_all();
}

bool Moment::reached() const {
  const std::lock_guard lock(mutex_);
  return reached_;
}

void Moment::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return reached_; });
}

bool is_stream_of(cudaStream_t stream, int device) {
  return stream == nullptr || (Streams::get().has(stream) && stream->device() == device);
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> task) {
  const auto unless_broken = [task = std::move(task)] {
    if (broken() == cudaSuccess) task();
  };
  if (stream == nullptr) {
    for (cudaStream_t other : Streams::get().list(false)) other->wait();
    unless_broken();
    return broken();
  }
  if (!Streams::get().has(stream)) return cudaErrorInvalidResourceHandle;
  stream->enqueue(unless_broken);
  return cudaSuccess;
}

cudaError_t synchronize(cudaStream_t stream) {
  if (stream == nullptr) {
    for (cudaStream_t other : Streams::get().list(false)) other->wait();
    return broken();
  }
  if (!Streams::get().has(stream)) return cudaErrorInvalidResourceHandle;
  stream->wait();
  return broken();
}

void synchronize_all() {
  for (cudaStream_t stream : Streams::get().list(true)) stream->wait();
}

Random& random_of(cudaStream_t stream) {
  return stream != nullptr ? stream->random() : Streams::get().random_of_null;
}

}  // namespace foldstep::simulated

using namespace foldstep::simulated;

CUstream_st::CUstream_st(int device, unsigned flags, unsigned number)
    : device_(device), flags_(flags), random_(seed_of(number)), thread_([this] { run(); }) {}

CUstream_st::~CUstream_st() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void CUstream_st::enqueue(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

bool CUstream_st::idle() {
  const std::lock_guard lock(mutex_);
  return tasks_.empty();
}

void CUstream_st::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty(); });
}

void CUstream_st::run() {
  Random delays(random_.next());
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::function<void()> task = tasks_.front();
    lock.unlock();
    if (options().delay && delays.one_in(4)) {
      std::this_thread::sleep_for(std::chrono::microseconds(delays.below(1000)));
    }
    task();
    lock.lock();
    tasks_.pop_front();
    changed_.notify_all();
  }
}

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&] {
    if ((flags & ~cudaStreamNonBlocking) != 0) return cudaErrorInvalidValue;
    Streams& streams = Streams::get();
    const std::lock_guard lock(streams.mutex);
    *stream = new CUstream_st(current_device(), flags, streams.created++);
    streams.all.insert(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  {
    const std::lock_guard lock(Streams::get().mutex);
    if (Streams::get().all.erase(stream) == 0) return remember(cudaErrorInvalidResourceHandle);
  }
  delete stream;
  return remember(broken());
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return synchronize(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] {
    if (stream == nullptr) return cudaErrorNotSupported;
    if (!Streams::get().has(stream)) return cudaErrorInvalidResourceHandle;
    return stream->idle() ? broken() : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&] {
    if (flags != 0) return cudaErrorInvalidValue;
    const std::lock_guard lock(event->mutex);
    if (event->moment == nullptr) return cudaSuccess;
    return enqueue(stream, [moment = event->moment] { moment->wait(); });
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return call([&] {
    *event = new CUevent_st{current_device(), {}, nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return remember(cudaErrorInvalidResourceHandle);
  delete event;
  return remember(broken());
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] {
    if (!is_stream_of(stream, event->device)) return cudaErrorInvalidResourceHandle;
    const auto moment = std::make_shared<Moment>();
    {
      const std::lock_guard lock(event->mutex);
      event->moment = moment;
    }
    if (stream == nullptr) return enqueue(stream, [moment] { moment->reach(); });
    stream->enqueue([moment] { moment->reach(); });  // also where a kernel before it has failed
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] {
    const std::lock_guard lock(event->mutex);
    return event->moment == nullptr || event->moment->reached() ? broken() : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] {
    std::shared_ptr<Moment> moment;
    {
      const std::lock_guard lock(event->mutex);
      moment = event->moment;
    }
    if (moment != nullptr) moment->wait();
    return broken();
  });
}

}  // extern "C"
