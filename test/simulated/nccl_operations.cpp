#include <nccl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "nccl_comm.hpp"
#include "numerics/bf16.hpp"
#include "stream.hpp"

namespace foldstep::simulated {
namespace {

using State = std::shared_ptr<CommState>;
using Bytes = std::vector<std::byte>;

/// Of one message's payload.
constexpr std::size_t chunk_bytes = 1 << 20;
/// Sends and receives of a pair match in their order, whatever groups they are in.
constexpr int tag_of_pairs = 30'000;

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
  }
  return 0;
}

Bytes read_device(const std::byte* at, std::size_t bytes) {
  const DeviceAccess access;
  return {at, at + bytes};
}

void write_device(std::byte* at, const Bytes& bytes) {
  const DeviceAccess access;
  std::memcpy(at, bytes.data(), bytes.size());
}

/// As NCCL does it: rounded at every addition.
class Bfloat16 {
 public:
  friend Bfloat16 operator+(Bfloat16 a, Bfloat16 b) {
    Bfloat16 sum;
    sum.bits_ = numerics::f32_to_bf16(a.value() + b.value());
    return sum;
  }
  friend bool operator<(Bfloat16 a, Bfloat16 b) { return a.value() < b.value(); }

 private:
  float value() const { return numerics::bf16_to_f32(bits_); }

  std::uint16_t bits_ = 0;
};

template <typename T>
void combine(Bytes& into, const Bytes& other, ncclRedOp_t op) {
  for (std::size_t at = 0; at < into.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, into.data() + at, sizeof a);
    std::memcpy(&b, other.data() + at, sizeof b);
    a = op == ncclSum ? static_cast<T>(a + b) : op == ncclMax ? std::max(a, b) : std::min(a, b);
    std::memcpy(into.data() + at, &a, sizeof a);
  }
}

bool reducible(ncclDataType_t type, ncclRedOp_t op) {
  const bool known = type == ncclUint8 || type == ncclInt32 || type == ncclBfloat16 || type == ncclFloat32 ||
                     type == ncclFloat64;
  return known && (op == ncclSum || op == ncclMax || op == ncclMin);
}

void combine(Bytes& into, const Bytes& other, ncclDataType_t type, ncclRedOp_t op) {
  if (type == ncclUint8) combine<std::uint8_t>(into, other, op);
  if (type == ncclInt32) combine<std::int32_t>(into, other, op);
  if (type == ncclBfloat16) combine<Bfloat16>(into, other, op);
  if (type == ncclFloat32) combine<float>(into, other, op);
  if (type == ncclFloat64) combine<double>(into, other, op);
}

/// From the last rank to the first: an order of its own, that nobody may take for rank order.
Bytes combined(std::vector<Message> parts, ncclDataType_t type, ncclRedOp_t op) {
  Bytes result = std::move(parts.back().bytes);
  parts.pop_back();
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) combine(result, part->bytes, type, op);
  return result;
}

/// Calls `each` with the chunks of `bytes` bytes.
template <typename Each>
void in_chunks(std::size_t bytes, const Each& each) {
  for (std::size_t at = 0; at < bytes; at += chunk_bytes) each(at, std::min(chunk_bytes, bytes - at));
}

/// An operation that waits for its place in the stream.
struct Operation {
  State comm;
  cudaStream_t stream;
  /// Null for a send or a receive.
  std::function<void()> collective;
  bool sends = false;
  int peer = 0;
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

/// All sends and receives of a group on one stream, at the same time.
void run_pairs(CommState& comm, const std::vector<Operation>& pairs) {
  std::vector<Message> sends;
  std::vector<Message> receives;
  for (const Operation& pair : pairs) {
    in_chunks(pair.bytes, [&](std::size_t at, std::size_t bytes) {
      if (pair.sends) {
        sends.push_back({pair.peer, read_device(pair.at + at, bytes)});
      } else {
        receives.push_back({pair.peer, Bytes(bytes)});
      }
    });
  }
  if (comm.group.size() == 1) {
    for (std::size_t i = 0; i < receives.size(); ++i) receives[i].bytes = sends.at(i).bytes;
  } else {
    comm.group.exchange(std::move(sends), receives, tag_of_pairs);
  }
  auto received = receives.begin();
  for (const Operation& pair : pairs) {
    if (pair.sends) continue;
    in_chunks(pair.bytes,
              [&](std::size_t at, std::size_t) { write_device(pair.at + at, (received++)->bytes); });
  }
}

/// On the stream's thread.
void run(CommState& comm, const std::function<void()>& task) {
  comm.attempt([&] {
    come(comm);
    task();
  });
}

ncclResult_t enqueue_on(cudaStream_t stream, const State& comm, std::function<void()> task) {
  const cudaError_t error = enqueue(stream, [comm, task = std::move(task)] { run(*comm, task); });
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

thread_local int depth = 0;
thread_local std::vector<Operation> grouped;
thread_local std::vector<std::function<ncclResult_t()>> beginnings;

ncclResult_t enqueue_group() {
  std::map<std::pair<CommState*, cudaStream_t>, std::vector<Operation>> pairs;
  ncclResult_t result = ncclSuccess;
  for (Operation& operation : std::exchange(grouped, {})) {
    if (operation.collective) {
      result = std::max(result, enqueue_on(operation.stream, operation.comm, operation.collective));
    } else {
      pairs[{operation.comm.get(), operation.stream}].push_back(std::move(operation));
    }
  }
  for (auto& [place, operations] : pairs) {
    const State comm = operations.front().comm;
    result = std::max(result, enqueue_on(place.second, comm,
                                         [comm, list = std::move(operations)] { run_pairs(*comm, list); }));
  }
  for (const auto& begin : std::exchange(beginnings, {})) result = std::max(result, begin());
  return result;
}

ncclResult_t add(Operation operation) {
  if (operation.comm->error() != ncclSuccess) return operation.comm->error();
  ncclGroupStart();
  grouped.push_back(std::move(operation));
  return ncclGroupEnd();
}

ncclResult_t add_collective(ncclComm_t comm, cudaStream_t stream, std::function<void()> collective) {
  return add({comm->state, stream, std::move(collective)});
}

bool valid(ncclComm_t comm, const void* at, std::size_t count) {
  return comm != nullptr && (count == 0 || allocation_of(at));
}

}  // namespace

ncclResult_t begin_in_group(std::function<ncclResult_t()> begin) {
  ncclGroupStart();
  beginnings.push_back(std::move(begin));
  return ncclGroupEnd();
}

}  // namespace foldstep::simulated

using namespace foldstep::simulated;

extern "C" {

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (depth == 0) return ncclInvalidUsage;
  return --depth == 0 ? enqueue_group() : ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* source, void* target, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  if (!valid(comm, source, count) || !valid(comm, target, count) || !reducible(type, op)) {
    return ncclInvalidArgument;
  }
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(target);
  return add_collective(comm, stream, [=, state = comm->state, tag = comm->state->next_tag()] {
    in_chunks(count * size_of(type), [&](std::size_t at, std::size_t bytes) {
      write_device(to + at, combined(state->group.gather(read_device(from + at, bytes), tag), type, op));
    });
  });
}

ncclResult_t ncclReduceScatter(const void* source, void* target, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  if (!valid(comm, source, count) || !valid(comm, target, count) || !reducible(type, op)) {
    return ncclInvalidArgument;
  }
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(target);
  return add_collective(comm, stream, [=, state = comm->state, tag = comm->state->next_tag()] {
    const std::size_t block = count * size_of(type);
    for (int owner = 0; owner < state->group.size(); ++owner) {
      in_chunks(block, [&](std::size_t at, std::size_t bytes) {
        const std::byte* part = from + static_cast<std::size_t>(owner) * block + at;
        const Bytes sum = combined(state->group.gather(read_device(part, bytes), tag), type, op);
        if (owner == state->group.rank()) write_device(to + at, sum);
      });
    }
  });
}

ncclResult_t ncclAllGather(const void* source, void* target, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  if (!valid(comm, source, count) || !valid(comm, target, count)) return ncclInvalidArgument;
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(target);
  return add_collective(comm, stream, [=, state = comm->state, tag = comm->state->next_tag()] {
    const std::size_t block = count * size_of(type);
    in_chunks(block, [&](std::size_t at, std::size_t bytes) {
      for (const Message& part : state->group.gather(read_device(from + at, bytes), tag)) {
        write_device(to + static_cast<std::size_t>(part.peer) * block + at, part.bytes);
      }
    });
  });
}

ncclResult_t ncclBroadcast(const void* source, void* target, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  if (!valid(comm, target, count) || root < 0 || root >= comm->state->group.size())
    return ncclInvalidArgument;
  const bool is_root = root == comm->state->group.rank();
  if (is_root && !valid(comm, source, count)) return ncclInvalidArgument;
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(target);
  return add_collective(comm, stream, [=, state = comm->state, tag = comm->state->next_tag()] {
    in_chunks(count * size_of(type), [&](std::size_t at, std::size_t bytes) {
      std::vector<Message> sends;
      std::vector<Message> receives;
      if (is_root) {
        const Bytes data = read_device(from + at, bytes);
        for (int peer = 0; peer < state->group.size(); ++peer) {
          if (peer != root) sends.push_back({peer, data});
        }
        write_device(to + at, data);
      } else {
        receives.push_back({root, Bytes(bytes)});
      }
      if (state->group.size() > 1) state->group.exchange(std::move(sends), receives, tag);
      if (!is_root) write_device(to + at, receives[0].bytes);
    });
  });
}

ncclResult_t ncclSend(const void* source, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  if (!valid(comm, source, count) || peer < 0 || peer >= comm->state->group.size())
    return ncclInvalidArgument;
  auto* at = static_cast<std::byte*>(const_cast<void*>(source));
  return add({comm->state, stream, nullptr, true, peer, at, count * size_of(type)});
}

ncclResult_t ncclRecv(void* target, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  if (!valid(comm, target, count) || peer < 0 || peer >= comm->state->group.size())
    return ncclInvalidArgument;
  return add(
      {comm->state, stream, nullptr, false, peer, static_cast<std::byte*>(target), count * size_of(type)});
}

}  // extern "C"
