#include "cuda/comm/cuda_communicator.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "cuda/comm/host_transport.hpp"
#include "cuda/comm/nccl.hpp"
#include "cuda/kernels/kernels.hpp"
#include "cuda/stream/closing_lock.hpp"
#include "runtime/collective_checks.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

std::unique_ptr<Transport> choose_transport(const std::shared_ptr<Communicator>& host,
                                            const DeviceRegistry& registry) {
  if (host->size() == 1) return nullptr;
  if (registry.nccl_serves(host->world_ranks())) return create_nccl_transport(host);
  return std::make_unique<HostTransport>(host);
}

std::vector<Transport::Message> messages(const Span& span, const Communicator::Blocks& blocks,
                                         std::size_t width, int self) {
  std::vector<Transport::Message> result;
  for (std::size_t m = 0; m < blocks.counts.size(); ++m) {
    if (static_cast<int>(m) == self) continue;
    result.push_back(
        {static_cast<int>(m), span.as<std::byte>() + blocks.offsets[m] * width, blocks.counts[m] * width});
  }
  return result;
}

}  // namespace

CudaCommunicator::CudaCommunicator(std::shared_ptr<Communicator> host,
                                   std::shared_ptr<const DeviceRegistry> registry)
    : host_(std::move(host)),
      registry_(std::move(registry)),
      transport_(choose_transport(host_, *registry_)) {}

const char* CudaCommunicator::carrier() const {
  if (!transport_) return "none";
  return transport_->staged() ? "host" : "nccl";
}

void CudaCommunicator::operate(StreamWorker& worker, const Announcement& mine,
                               const std::function<void()>& body) {
  const auto lock = lock_unless_closing(operation_, worker);
  if (failure_) std::rethrow_exception(failure_);
  try {
    if (size() > 1) worker.run_on_host([&](Stream& host) { host_->meet(host, mine); });
    body();
    if (transport_) transport_->look_after(worker);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void CudaCommunicator::enqueue(Stream& stream, const Announcement& mine,
                               std::function<void(StreamWorker&)> body) {
  CudaStream::of(stream).enqueue(
      [self = shared_from_this(), mine, body = std::move(body)](StreamWorker& worker) {
        self->operate(worker, mine, [&] { body(worker); });
      });
}

void CudaCommunicator::barrier(Stream& stream) {
  CudaStream::of(stream).enqueue([self = shared_from_this()](StreamWorker& worker) {
    worker.finish();
    // To have met is to have passed a barrier.
    self->operate(worker, announce("barrier"), [] {});
  });
}

void CudaCommunicator::meet(Stream& stream, const Announcement& mine) {
  enqueue(stream, mine, [](StreamWorker&) {});
}

void CudaCommunicator::all_reduce(Stream& stream, Span data, std::size_t count, DType type, ReduceOp op) {
  check_span({"all-reduce", world_rank()}, "data", data, 1, count, type);
  enqueue(stream, announce_typed("all-reduce", count, type, op), [=, this](StreamWorker& worker) {
    if (transport_) transport_->all_reduce(worker, data.as<std::byte>(), count, type, op);
  });
}

void CudaCommunicator::reduce_scatter(Stream& stream, Span source, Span target, std::size_t count, DType type,
                                      ReduceOp op) {
  const auto members = static_cast<std::size_t>(size());
  const Asked asked{"reduce-scatter", world_rank()};
  check_span(asked, "source", source, members, count, type);
  check_span(asked, "target", target, 1, count, type);
  check_apart(asked, source, members * count * size_of(type), target, count * size_of(type));
  enqueue(stream, announce_typed("reduce-scatter", count, type, op), [=, this](StreamWorker& worker) {
    if (!transport_)
      return copy(worker.launch(), {source.as<std::byte>()}, target.as<void>(), count * size_of(type));
    transport_->reduce_scatter(worker, source.as<std::byte>(), target.as<std::byte>(), count, type, op);
  });
}

void CudaCommunicator::all_gather(Stream& stream, Span source, Span target, std::size_t count, DType type) {
  const auto members = static_cast<std::size_t>(size());
  const std::size_t bytes = count * size_of(type);
  const Asked asked{"all-gather", world_rank()};
  check_span(asked, "source", source, 1, count, type);
  check_span(asked, "target", target, members, count, type);
  check_apart(asked, source, bytes, target, members * bytes);
  enqueue(stream, announce_typed("all-gather", count, type), [=, this](StreamWorker& worker) {
    if (!transport_) return copy(worker.launch(), {source.as<std::byte>()}, target.as<void>(), bytes);
    transport_->all_gather(worker, source.as<std::byte>(), target.as<std::byte>(), bytes);
  });
}

void CudaCommunicator::broadcast(Stream& stream, Span data, std::size_t count, DType type, int root) {
  const Asked asked{"broadcast", world_rank()};
  check_span(asked, "data", data, 1, count, type);
  check_root(asked, root, size());
  enqueue(stream,
          announce("broadcast", count, static_cast<std::uint64_t>(type), static_cast<std::uint64_t>(root)),
          [=, this](StreamWorker& worker) {
            if (transport_) transport_->broadcast(worker, data.as<std::byte>(), count * size_of(type), root);
          });
}

void CudaCommunicator::all_to_all(Stream& stream, Span source, const Blocks& send, Span target,
                                  const Blocks& receive, DType type) {
  const Asked asked{"all-to-all", world_rank()};
  check_blocks(asked, "source", source, send, size(), type);
  check_blocks(asked, "target", target, receive, size(), type);
  enqueue(stream, announce_typed("all-to-all", 0, type), [=, this](StreamWorker& worker) {
    check_sizes(worker, send, receive);
    const std::size_t width = size_of(type);
    const auto self = static_cast<std::size_t>(rank());
    copy(worker.launch(), {source.as<std::byte>() + send.offsets[self] * width},
         target.as<std::byte>() + receive.offsets[self] * width, send.counts[self] * width);
    if (!transport_) return;
    transport_->exchange(worker, messages(source, send, width, rank()),
                         messages(target, receive, width, rank()));
  });
}

void CudaCommunicator::check_sizes(StreamWorker& worker, const Blocks& send, const Blocks& receive) {
  // Every member sees every member's counts, so that all find the same fault.
  const auto members = static_cast<std::size_t>(size());
  const std::size_t row = 2 * members;
  std::vector<std::uint64_t> mine(send.counts.begin(), send.counts.end());
  mine.insert(mine.end(), receive.counts.begin(), receive.counts.end());
  std::vector<std::uint64_t> all(mine);
  if (members > 1) {
    all.resize(members * row);
    Backend& host = *worker.context().host;
    const Span source{host.allocate(row * sizeof(std::uint64_t)), 0};
    const Span target{host.allocate(members * row * sizeof(std::uint64_t)), 0};
    source.memory->write(0, mine.data(), row * sizeof(std::uint64_t));
    worker.run_on_host([&](Stream& stream) {
      host_->all_gather(stream, source, target, row * sizeof(std::uint64_t), DType::U8);
    });
    target.memory->read(0, all.data(), all.size() * sizeof(std::uint64_t));
  }
  for (std::size_t sender = 0; sender < members; ++sender) {
    for (std::size_t receiver = 0; receiver < members; ++receiver) {
      const std::uint64_t sent = all[sender * row + receiver];
      const std::uint64_t expected = all[receiver * row + members + sender];
      if (sent == expected) continue;
      const int from = world_ranks()[sender];
      const int to = world_ranks()[receiver];
      throw Error(Code::OperationMismatch,
                  "all-to-all: rank " + std::to_string(from) + " sends " + std::to_string(sent) +
                      " elements to rank " + std::to_string(to) + ", which expects " +
                      std::to_string(expected) + "; a member's send count must be the other's receive count",
                  world_rank(), from == world_rank() ? to : from);
    }
  }
}

void CudaCommunicator::split(Stream& stream, int color, int key,
                             std::function<void(std::shared_ptr<Communicator>)> done) {
  check_color({"split", world_rank()}, color);
  enqueue(stream, announce("split"), [=, this](StreamWorker& worker) {
    const auto part = std::make_shared<std::shared_ptr<Communicator>>();
    worker.run_on_host([&](Stream& host) {
      host_->split(host, color, key, [part](std::shared_ptr<Communicator> made) { *part = std::move(made); });
    });
    done(std::make_shared<CudaCommunicator>(*part, registry_));
  });
}

}  // namespace foldstep::cuda
