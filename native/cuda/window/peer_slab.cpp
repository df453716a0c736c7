#include "cuda/window/peer_slab.hpp"

#include <memory>
#include <random>
#include <string>

#include "cuda/errors.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

[[noreturn]] void refuse(cudaError_t result, const std::string& what) {
  cudaGetLastError();
  throw Error(Code::PathUnavailable, what + " (" + cudaGetErrorString(result) + ")");
}

const PeerSlab::Process& this_process() {
  static const PeerSlab::Process process = [] {
    std::random_device source;
    return PeerSlab::Process{source(), source(), source(), source()};
  }();
  return process;
}

/// Tells the owner of `slab` that this rank touches it no more.
void give_back(SideStream& side_stream, std::byte* slab, int self) {
  try {
    const std::uint32_t closed = 1;
    side_stream.copy(&reinterpret_cast<SignalPad*>(slab)->closed[self], &closed, sizeof closed);
  } catch (const Error&) {
    // The device has failed: the owner keeps the memory.
  }
}

}  // namespace

std::shared_ptr<PeerSlab> PeerSlab::create(const std::shared_ptr<Context>& context, std::size_t bytes) {
  const auto borrowers = std::make_shared<std::atomic<Places>>(0);
  const auto give_up = [&lent = context->lent, borrowers](std::byte* block) {
    lent.add(block, borrowers->load());
  };
  const auto memory = DeviceMemory::allocate(context, header_bytes + bytes, give_up);
  const auto slab = create_in(*context, {memory, memory->data()});
  slab->borrowers_ = borrowers;
  return slab;
}

std::shared_ptr<PeerSlab> PeerSlab::create_in(Context& context, std::shared_ptr<std::byte> block) {
  const auto fresh = std::make_unique<SignalPad>();
  context.side_stream.copy(block.get(), fresh.get(), sizeof(SignalPad));
  return std::make_shared<PeerSlab>(std::move(block));
}

std::shared_ptr<PeerSlab> PeerSlab::open(const std::shared_ptr<Context>& context, const Address& address,
                                         int self) {
  // Memory of another environment of this process is mapped here already.
  const bool mapped = address.process != this_process();
  void* block = address.local;
  if (mapped) {
    const cudaError_t result = cudaIpcOpenMemHandle(&block, address.handle, cudaIpcMemLazyEnablePeerAccess);
    if (result != cudaSuccess) refuse(result, "this rank's device cannot map another rank's memory");
  }
  const auto close = [context, self, mapped](std::byte* slab) {
    Context::free_later(context, [&side_stream = context->side_stream, self, mapped, slab] {
      give_back(side_stream, slab, self);
      if (mapped) cudaIpcCloseMemHandle(slab);
    });
  };
  return std::make_shared<PeerSlab>(std::shared_ptr<std::byte>(static_cast<std::byte*>(block), close));
}

PeerSlab::Address PeerSlab::address() const {
  Address address{};
  address.process = this_process();
  address.local = block_.get();
  const cudaError_t result = cudaIpcGetMemHandle(&address.handle, block_.get());
  if (result != cudaSuccess)
    refuse(result, "this rank's device cannot share its memory with other processes");
  return address;
}

}  // namespace foldstep::cuda
