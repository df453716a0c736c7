#include "cpu/comm/cpu_communicator.hpp"

#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cpu/comm/abandoned.hpp"
#include "cpu/comm/alone_transport.hpp"
#include "cpu/comm/bf16_collectives.hpp"
#include "cpu/comm/completion.hpp"
#include "cpu/comm/rendezvous.hpp"
#include "runtime/collective_checks.hpp"

namespace foldstep::cpu {
namespace {

/// What an operation in flight keeps alive.
std::shared_ptr<const void> hold(const Span& a, const Span& b = {}) {
  return std::make_shared<std::pair<Span, Span>>(a, b);
}

/// Ends the operations of a BF16 reduction on behalf of `self`; their buffers are the call's own and those of
/// `held`.
Wait waiter(CpuCommunicator& self, const Cancelled& cancelled, std::shared_ptr<const void> held) {
  return [&self, &cancelled, held](Transport::Pending pending, std::shared_ptr<const void> buffer) {
    self.wait(std::move(pending), cancelled,
              std::make_shared<std::pair<decltype(held), decltype(buffer)>>(held, buffer));
  };
}

}  // namespace

struct CpuCommunicator::State {
  State(std::shared_ptr<Transport> transport, std::chrono::milliseconds deadline)
      : world_ranks(transport->world_ranks()), rendezvous(std::move(transport), deadline) {}

  std::vector<int> world_ranks;
  Rendezvous rendezvous;
  std::exception_ptr failure;
  /// An operation is announced and carried out before the next one begins, whatever streams they are on.
  std::recursive_mutex operation;
};

CpuCommunicator::CpuCommunicator(std::shared_ptr<Transport> transport, std::chrono::milliseconds deadline)
    : transport_(std::move(transport)),
      deadline_(deadline),
      state_(std::make_unique<State>(transport_, deadline)) {}

CpuCommunicator::~CpuCommunicator() = default;

int CpuCommunicator::rank() const {
  return transport_->rank();
}

int CpuCommunicator::size() const {
  return transport_->size();
}

const std::vector<int>& CpuCommunicator::world_ranks() const {
  return state_->world_ranks;
}

template <typename Body>
void CpuCommunicator::guarded(Body body) {
  const std::lock_guard lock(state_->operation);
  if (state_->failure) std::rethrow_exception(state_->failure);
  try {
    body();
  } catch (...) {
    state_->failure = std::current_exception();
    throw;
  }
}

template <typename Body>
void CpuCommunicator::enqueue(Stream& stream, Body body) {
  CpuStream::of(stream).enqueue(
      [self = shared_from_this(), body = std::move(body)](const Cancelled& cancelled) {
        self->guarded([&] { body(*self, cancelled); });
      });
}

template <typename Body>
void CpuCommunicator::enqueue_met(Stream& stream, const Announcement& mine, Body body) {
  enqueue(stream, [mine, body = std::move(body)](CpuCommunicator& self, const Cancelled& cancelled) {
    self.meet(mine, cancelled);
    body(self, cancelled);
  });
}

void CpuCommunicator::meet(Announcement mine, const Cancelled& cancelled) {
  guarded([&] {
    if (size() > 1) state_->rendezvous.meet(mine, cancelled);
  });
}

void CpuCommunicator::wait(Transport::Pending pending, const Cancelled& cancelled,
                           std::shared_ptr<const void> buffers) {
  guarded([&] {
    try {
      Completion(world_ranks(), rank(), deadline_).wait_for(*pending, cancelled);
    } catch (...) {
      struct Unfinished {
        std::shared_ptr<Transport> transport;
        std::shared_ptr<const void> buffers;
        Transport::Pending pending;
      };
      abandon(std::make_shared<Unfinished>(Unfinished{transport_, std::move(buffers), std::move(pending)}));
      throw;
    }
  });
}

void CpuCommunicator::barrier(Stream& stream) {
  // To have met is to have passed a barrier.
  enqueue_met(stream, announce("barrier"), [](CpuCommunicator&, const Cancelled&) {});
}

void CpuCommunicator::meet(Stream& stream, const Announcement& mine) {
  enqueue_met(stream, mine, [](CpuCommunicator&, const Cancelled&) {});
}

void CpuCommunicator::all_reduce(Stream& stream, Span data, std::size_t count, DType type, ReduceOp op) {
  check_span({"all-reduce", world_ranks()[rank()]}, "data", data, 1, count, type);
  enqueue_met(stream, announce_typed("all-reduce", count, type, op),
              [=](CpuCommunicator& self, const Cancelled& cancelled) {
                if (type == DType::BF16) {
                  all_reduce_bf16(*self.transport_, data.as<std::uint16_t>(), count, op,
                                  waiter(self, cancelled, hold(data)));
                } else {
                  self.wait(self.transport_->all_reduce(data.as<std::byte>(), count, type, op), cancelled,
                            hold(data));
                }
              });
}

void CpuCommunicator::reduce_scatter(Stream& stream, Span source, Span target, std::size_t count, DType type,
                                     ReduceOp op) {
  const auto members = static_cast<std::size_t>(size());
  const Asked asked{"reduce-scatter", world_ranks()[rank()]};
  check_span(asked, "source", source, members, count, type);
  check_span(asked, "target", target, 1, count, type);
  check_apart(asked, source, members * count * size_of(type), target, count * size_of(type));
  enqueue_met(
      stream, announce_typed("reduce-scatter", count, type, op),
      [=](CpuCommunicator& self, const Cancelled& cancelled) {
        if (type == DType::BF16) {
          reduce_scatter_bf16(*self.transport_, source.as<std::uint16_t>(), target.as<std::uint16_t>(), count,
                              op, waiter(self, cancelled, hold(source, target)));
        } else {
          self.wait(
              self.transport_->reduce_scatter(source.as<std::byte>(), target.as<void>(), count, type, op),
              cancelled, hold(source, target));
        }
      });
}

void CpuCommunicator::all_gather(Stream& stream, Span source, Span target, std::size_t count, DType type) {
  const auto members = static_cast<std::size_t>(size());
  const std::size_t bytes = count * size_of(type);
  const Asked asked{"all-gather", world_ranks()[rank()]};
  check_span(asked, "source", source, 1, count, type);
  check_span(asked, "target", target, members, count, type);
  check_apart(asked, source, bytes, target, members * bytes);
  enqueue_met(stream, announce_typed("all-gather", count, type),
              [=](CpuCommunicator& self, const Cancelled& cancelled) {
                self.wait(self.transport_->all_gather(source.as<std::byte>(), target.as<void>(), bytes),
                          cancelled, hold(source, target));
              });
}

void CpuCommunicator::broadcast(Stream& stream, Span data, std::size_t count, DType type, int root) {
  const Asked asked{"broadcast", world_ranks()[rank()]};
  check_span(asked, "data", data, 1, count, type);
  check_root(asked, root, size());
  enqueue_met(
      stream,
      announce("broadcast", count, static_cast<std::uint64_t>(type), static_cast<std::uint64_t>(root)),
      [=](CpuCommunicator& self, const Cancelled& cancelled) {
        self.wait(self.transport_->broadcast(data.as<std::byte>(), count * size_of(type), root), cancelled,
                  hold(data));
      });
}

void CpuCommunicator::all_to_all(Stream& stream, Span source, const Blocks& send, Span target,
                                 const Blocks& receive, DType type) {
  const Asked asked{"all-to-all", world_ranks()[rank()]};
  check_blocks(asked, "source", source, send, size(), type);
  check_blocks(asked, "target", target, receive, size(), type);
  const auto bytes = [&](std::vector<std::size_t> elements) {
    for (std::size_t& n : elements) n *= size_of(type);
    return elements;
  };
  enqueue(stream, [=, send_bytes = bytes(send.counts), send_offsets = bytes(send.offsets),
                   receive_bytes = bytes(receive.counts), receive_offsets = bytes(receive.offsets)](
                      CpuCommunicator& self, const Cancelled& cancelled) {
    self.state_->rendezvous.meet_blocks(announce_typed("all-to-all", 0, type), send.counts, receive.counts,
                                        cancelled);
    self.wait(self.transport_->all_to_all(source.as<std::byte>(), send_bytes, send_offsets, target.as<void>(),
                                          receive_bytes, receive_offsets),
              cancelled, hold(source, target));
  });
}

void CpuCommunicator::split(Stream& stream, int color, int key,
                            std::function<void(std::shared_ptr<Communicator>)> done) {
  check_color({"split", world_ranks()[rank()]}, color);
  enqueue_met(stream, announce("split"), [=](CpuCommunicator& self, const Cancelled& cancelled) {
    const auto made = std::make_shared<std::unique_ptr<Transport>>();
    self.wait(self.transport_->split(color, key, *made), cancelled, made);
    std::shared_ptr<Transport> part = std::move(*made);
    if (part->size() == 1) part = std::make_shared<AloneTransport>(part->world_ranks()[0]);
    done(std::make_shared<CpuCommunicator>(std::move(part), self.deadline_));
  });
}

}  // namespace foldstep::cpu
