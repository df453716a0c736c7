#include "cpu/comm/alone_transport.hpp"

#include <cstring>

#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

class Done final : public Request {
 public:
  bool test() override { return true; }
};

Transport::Pending done() {
  return std::make_unique<Done>();
}

Transport::Pending copy(const void* source, void* target, std::size_t bytes) {
  // memcpy's pointers may not be null, an empty block's are.
  if (bytes != 0) std::memcpy(target, source, bytes);
  return done();
}

[[noreturn]] void refuse(int world_rank) {
  throw Error(Code::Internal, "a message in a group of one rank has no other end", world_rank);
}

}  // namespace

Transport::Pending AloneTransport::send(const void*, std::size_t, int, int) {
  refuse(world_rank_);
}

Transport::Pending AloneTransport::receive(void*, std::size_t, int, int) {
  refuse(world_rank_);
}

Transport::Pending AloneTransport::all_reduce(void*, std::size_t, DType, ReduceOp) {
  return done();
}

Transport::Pending AloneTransport::reduce_scatter(const void* source, void* target, std::size_t count,
                                                  DType type, ReduceOp) {
  return copy(source, target, count * size_of(type));
}

Transport::Pending AloneTransport::all_gather(const void* source, void* target, std::size_t bytes) {
  return copy(source, target, bytes);
}

Transport::Pending AloneTransport::broadcast(void*, std::size_t, int) {
  return done();
}

Transport::Pending AloneTransport::all_to_all(const void* source, const std::vector<std::size_t>& send_bytes,
                                              const std::vector<std::size_t>& send_offsets, void* target,
                                              const std::vector<std::size_t>&,
                                              const std::vector<std::size_t>& receive_offsets) {
  return copy(static_cast<const std::byte*>(source) + send_offsets[0],
              static_cast<std::byte*>(target) + receive_offsets[0], send_bytes[0]);
}

Transport::Pending AloneTransport::barrier() {
  return done();
}

Transport::Pending AloneTransport::split(int, int, std::unique_ptr<Transport>& part) {
  part = std::make_unique<AloneTransport>(world_rank_);
  return done();
}

}  // namespace foldstep::cpu
