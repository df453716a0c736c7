#include "cuda/window/peer_slab.hpp"

#include <unistd.h>

#include <memory>
#include <string>

#include "cuda/errors.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

[[noreturn]] void refuse(cudaError_t result, const std::string& what) {
  cudaGetLastError();
  throw Error(Code::PathUnavailable, what + " (" + cudaGetErrorString(result) + ")");
}

}  // namespace

std::shared_ptr<PeerSlab> PeerSlab::create(const std::shared_ptr<Context>& context, std::size_t bytes) {
  const auto memory = DeviceMemory::allocate(context, header_bytes + bytes);
  return create_in(*context, {memory, memory->data()});
}

std::shared_ptr<PeerSlab> PeerSlab::create_in(Context& context, std::shared_ptr<std::byte> block) {
  const auto fresh = std::make_unique<SignalPad>();
  context.courier.copy(block.get(), fresh.get(), sizeof(SignalPad));
  return std::make_shared<PeerSlab>(std::move(block));
}

std::shared_ptr<PeerSlab> PeerSlab::open(std::shared_ptr<Context> context, const Address& address) {
  if (address.process == getpid()) {
    // Another environment of this process, whose memory is mapped here already.
    return std::make_shared<PeerSlab>(std::shared_ptr<std::byte>(address.local, [](std::byte*) {}));
  }
  void* mapped = nullptr;
  const cudaError_t result = cudaIpcOpenMemHandle(&mapped, address.handle, cudaIpcMemLazyEnablePeerAccess);
  if (result != cudaSuccess) refuse(result, "this rank's device cannot map another rank's memory");
  return std::make_shared<PeerSlab>(std::shared_ptr<std::byte>(
      static_cast<std::byte*>(mapped), [context = std::move(context)](std::byte* block) {
        Context::free_later(context, [block] { cudaIpcCloseMemHandle(block); });
      }));
}

PeerSlab::Address PeerSlab::address() const {
  Address address{};
  address.process = getpid();
  address.local = block_.get();
  const cudaError_t result = cudaIpcGetMemHandle(&address.handle, block_.get());
  if (result != cudaSuccess)
    refuse(result, "this rank's device cannot share its memory with other processes");
  return address;
}

}  // namespace foldstep::cuda
