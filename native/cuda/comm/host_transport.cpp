#include "cuda/comm/host_transport.hpp"

#include <algorithm>

#include "cuda/errors.hpp"
#include "runtime/range.hpp"

namespace foldstep::cuda {

namespace {

/// Pinned memory for one collective after another of one operation.
class Staging {
 public:
  Staging(StreamWorker& worker, std::size_t bytes)
      : worker_(worker), memory_(worker.context().pinned.take(worker.context().ledger, bytes)) {}

  Span at(std::size_t offset) const { return {memory_, offset}; }

  void load(const std::byte* source, std::size_t offset, std::size_t bytes) {
    transfer(memory_->data() + offset, source, bytes, cudaMemcpyDeviceToHost);
  }
  void store(std::size_t offset, std::byte* target, std::size_t bytes) {
    transfer(target, memory_->data() + offset, bytes, cudaMemcpyHostToDevice);
  }
  /// Runs a collective of the host between what has been loaded and what will be stored.
  void run(const std::function<void(Stream&)>& enqueue) {
    worker_.finish();
    under_way_ = false;
    worker_.run_on_host(enqueue);
  }
  /// The memory may be used anew.
  void finish() {
    if (under_way_) worker_.finish();
    under_way_ = false;
  }
  ~Staging() {
    // In the middle of an error: the pool must not hand on what the device still copies.
    if (under_way_) worker_.keep(memory_);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

 private:
  void transfer(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    under_way_ = true;
    check(cudaMemcpyAsync(target, source, bytes, kind, worker_.stream()), "copying through pinned memory");
  }

  StreamWorker& worker_;
  std::shared_ptr<PinnedMemory> memory_;
  bool under_way_ = false;
};

/// Calls `visit(range)` on runs of [0, count) of which `per_element` bytes an element fit into what is kept.
template <typename Visit>
void for_chunks(std::size_t count, std::size_t per_element, const Visit& visit) {
  const std::size_t step = std::max<std::size_t>(PinnedPool::kept_bytes / per_element, 1);
  for (std::size_t begin = 0; begin < count; begin += step) {
    visit(Range{begin, std::min(count, begin + step)});
  }
}

std::size_t staged_bytes(std::size_t count, std::size_t per_element) {
  const std::size_t step = std::max<std::size_t>(PinnedPool::kept_bytes / per_element, 1);
  return std::min(count, step) * per_element;
}

}  // namespace

void HostTransport::all_reduce(StreamWorker& worker, std::byte* data, std::size_t count, DType type,
                               ReduceOp op) {
  const std::size_t width = size_of(type);
  Staging staging(worker, staged_bytes(count, width));
  for_chunks(count, width, [&](Range range) {
    std::byte* const at = data + range.begin * width;
    staging.finish();
    staging.load(at, 0, range.size() * width);
    staging.run([&](Stream& stream) { host_->all_reduce(stream, staging.at(0), range.size(), type, op); });
    staging.store(0, at, range.size() * width);
  });
  staging.finish();
}

void HostTransport::reduce_scatter(StreamWorker& worker, const std::byte* source, std::byte* target,
                                   std::size_t count, DType type, ReduceOp op) {
  const std::size_t width = size_of(type);
  const auto members = static_cast<std::size_t>(host_->size());
  const std::size_t per_element = (members + 1) * width;
  Staging staging(worker, staged_bytes(count, per_element));
  for_chunks(count, per_element, [&](Range range) {
    const std::size_t bytes = range.size() * width;
    staging.finish();
    for (std::size_t m = 0; m < members; ++m) {
      staging.load(source + (m * count + range.begin) * width, m * bytes, bytes);
    }
    staging.run([&](Stream& stream) {
      host_->reduce_scatter(stream, staging.at(0), staging.at(members * bytes), range.size(), type, op);
    });
    staging.store(members * bytes, target + range.begin * width, bytes);
  });
  staging.finish();
}

void HostTransport::all_gather(StreamWorker& worker, const std::byte* source, std::byte* target,
                               std::size_t bytes) {
  const auto members = static_cast<std::size_t>(host_->size());
  Staging staging(worker, staged_bytes(bytes, members + 1));
  for_chunks(bytes, members + 1, [&](Range range) {
    staging.finish();
    staging.load(source + range.begin, 0, range.size());
    staging.run([&](Stream& stream) {
      host_->all_gather(stream, staging.at(0), staging.at(range.size()), range.size(), DType::U8);
    });
    for (std::size_t m = 0; m < members; ++m) {
      staging.store((m + 1) * range.size(), target + m * bytes + range.begin, range.size());
    }
  });
  staging.finish();
}

void HostTransport::broadcast(StreamWorker& worker, std::byte* data, std::size_t bytes, int root) {
  const bool sender = host_->rank() == root;
  Staging staging(worker, staged_bytes(bytes, 1));
  for_chunks(bytes, 1, [&](Range range) {
    staging.finish();
    if (sender) staging.load(data + range.begin, 0, range.size());
    staging.run(
        [&](Stream& stream) { host_->broadcast(stream, staging.at(0), range.size(), DType::U8, root); });
    if (!sender) staging.store(0, data + range.begin, range.size());
  });
  staging.finish();
}

void HostTransport::exchange(StreamWorker& worker, const std::vector<Message>& sends,
                             const std::vector<Message>& receives) {
  const auto members = static_cast<std::size_t>(host_->size());
  // What goes to one member, or comes from it, lies together, in the order of the messages.
  std::size_t total = 0;
  const auto lay_out = [&](const std::vector<Message>& messages) {
    Communicator::Blocks blocks{std::vector<std::size_t>(members), std::vector<std::size_t>(members)};
    for (const Message& message : messages)
      blocks.counts[static_cast<std::size_t>(message.peer)] += message.bytes;
    for (std::size_t m = 0; m < members; ++m) {
      blocks.offsets[m] = total;
      total += blocks.counts[m];
    }
    return blocks;
  };
  const Communicator::Blocks out = lay_out(sends);
  const Communicator::Blocks in = lay_out(receives);
  const auto for_each_place = [](const std::vector<Message>& messages, std::vector<std::size_t> at,
                                 const auto& visit) {
    for (const Message& message : messages) {
      std::size_t& place = at[static_cast<std::size_t>(message.peer)];
      visit(message, place);
      place += message.bytes;
    }
  };
  Staging staging(worker, total);
  for_each_place(sends, out.offsets, [&](const Message& message, std::size_t place) {
    staging.load(message.data, place, message.bytes);
  });
  staging.run(
      [&](Stream& stream) { host_->all_to_all(stream, staging.at(0), out, staging.at(0), in, DType::U8); });
  for_each_place(receives, in.offsets, [&](const Message& message, std::size_t place) {
    staging.store(place, message.data, message.bytes);
  });
  staging.finish();
}

}  // namespace foldstep::cuda
