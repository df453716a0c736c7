#include "cuda/cuda_backend.hpp"

#include <string>
#include <utility>

#include "cuda/comm/cuda_communicator.hpp"
#include "cuda/fold/cuda_operations.hpp"
#include "cuda/memory/device_memory.hpp"
#include "cuda/memory/pinned_memory.hpp"
#include "cuda/stream/cuda_stream.hpp"
#include "cuda/versions.hpp"
#include "cuda/window/cuda_window.hpp"

namespace foldstep::cuda {

CudaBackend::CudaBackend(const BackendOptions& options, std::shared_ptr<Backend> host)
    : context_(std::make_shared<Context>(options, std::move(host))) {}

std::vector<std::pair<std::string, std::string>> CudaBackend::describe() const {
  const cudaDeviceProp& device = context_->properties;
  return {{"device", device.name},
          {"device number", std::to_string(context_->device)},
          {"device uuid", uuid_text(device.uuid)},
          {"compute capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
          {"multiprocessors", std::to_string(device.multiProcessorCount)},
          {"device memory bytes", std::to_string(device.totalGlobalMem)},
          {"driver", driver_version()},
          {"runtime", runtime_version()},
          {"collectives", carrier_.load()},
          {"allocator peak bytes", std::to_string(context_->allocator.peak_bytes())}};
}

void CudaBackend::reset_peaks() {
  context_->use();
  context_->finish_frees();
  context_->allocator.reset();
  context_->ledger.reset_peak();
}

std::shared_ptr<Stream> CudaBackend::create_stream() {
  return std::make_shared<CudaStream>(context_);
}

std::shared_ptr<Memory> CudaBackend::allocate(std::size_t bytes) {
  return DeviceMemory::allocate(context_, bytes);
}

std::shared_ptr<Memory> CudaBackend::allocate_host(std::size_t bytes) {
  context_->use();
  return {new PinnedMemory(bytes), [context = context_](PinnedMemory* memory) {
            Context::free_later(context, [memory] { delete memory; });
          }};
}

std::shared_ptr<Memory> CudaBackend::wrap(std::byte* address, std::size_t bytes) {
  return DeviceMemory::wrap(context_, address, bytes);
}

std::shared_ptr<Communicator> CudaBackend::join(std::shared_ptr<Communicator> world) {
  auto registry = DeviceRegistry::gather(*context_, *world);
  auto communicator = std::make_shared<CudaCommunicator>(std::move(world), std::move(registry));
  carrier_.store(communicator->carrier());
  return communicator;
}

void CudaBackend::create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                                std::function<void(std::shared_ptr<PeerWindow>)> done) {
  if (!communicator) throw Error(Code::InvalidArgument, "a window needs a communicator");
  CudaStream::of(stream).enqueue(
      [members = std::static_pointer_cast<CudaCommunicator>(communicator), bytes,
       done = std::move(done)](StreamWorker& worker) { done(CudaWindow::create(worker, *members, bytes)); });
}

void CudaBackend::fold(Stream& stream, std::shared_ptr<const FoldTeam> team,
                       std::function<void(FoldOperations&)> body) {
  CudaStream::of(stream).enqueue([team = std::move(team), body = std::move(body)](StreamWorker& worker) {
    CudaOperations operations(worker, *team);
    body(operations);
  });
}

}  // namespace foldstep::cuda
