#include "cpu/cpu_backend.hpp"

#include <sstream>
#include <string>
#include <utility>

#include "cpu/cores.hpp"
#include "cpu/fold/cpu_operations.hpp"
#include "cpu/host_memory.hpp"
#include "cpu/mapped.hpp"
#include "cpu/stream.hpp"
#include "cpu/window/cpu_window.hpp"
#include "cpu/window/shared_memory.hpp"
#include "runtime/error.hpp"
#include "runtime/foreign_memory.hpp"

namespace foldstep {

namespace cpu {

namespace {

std::shared_ptr<Context> create_context(const BackendOptions& options) {
  const Cores cores = Cores::find();
  const int threads = options.threads > 0 ? options.threads : cores.share_of(options.local_ranks);
  return std::make_shared<Context>(options.deadline, cores.enough_for(options.local_ranks), threads);
}

/// 2, or 0.5.
std::string text_of(double cores) {
  std::ostringstream text;
  text << cores;
  return text.str();
}

}  // namespace

CpuBackend::CpuBackend(const BackendOptions& options) : CpuBackend(create_context(options)) {}

CpuBackend::CpuBackend(std::shared_ptr<Context> context) : context_(std::move(context)), kernels_(context_) {}

std::vector<std::pair<std::string, std::string>> CpuBackend::describe() const {
  const Cores cores = Cores::find();
  return {{"instruction set", std::string(kernel_table().name)},
          {"cores of the host", text_of(cores.host)},
          {"cores of this rank", text_of(cores.own)},
          {"threads", std::to_string(context_->threads.count())},
          {"waits by spinning", context_->spin ? "yes" : "no"},
          {"shared memory directory", shared_memory_directory()},
          {"shared memory free bytes", std::to_string(shared_memory_space().free)}};
}

std::shared_ptr<Stream> CpuBackend::create_stream() {
  return std::make_shared<CpuStream>();
}

std::shared_ptr<Memory> CpuBackend::allocate(std::size_t bytes) {
  return std::make_shared<HostMemory>(bytes);
}

std::shared_ptr<Memory> CpuBackend::wrap(std::byte* address, std::size_t bytes) {
  if (!is_mapped(address, bytes)) {
    throw Error(Code::InvalidArgument, "not all of the " + std::to_string(bytes) +
                                           " bytes from that address are memory of this process; give the "
                                           "address and the length of memory that is there");
  }
  return std::make_shared<ForeignMemory>(address, bytes);
}

void CpuBackend::create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                               std::function<void(std::shared_ptr<PeerWindow>)> done) {
  if (!communicator) throw Error(Code::InvalidArgument, "a window needs a communicator");
  CpuStream::of(stream).enqueue([context = context_,
                                 members = std::static_pointer_cast<CpuCommunicator>(communicator), bytes,
                                 done = std::move(done)](const Cancelled& cancelled) {
    done(CpuWindow::create(context, *members, bytes, cancelled));
  });
}

void CpuBackend::fold(Stream& stream, std::shared_ptr<const FoldTeam> team,
                      std::function<void(FoldOperations&)> body) {
  CpuStream::of(stream).enqueue(
      [context = context_, team = std::move(team), body = std::move(body)](const Cancelled& cancelled) {
        CpuOperations operations(*context, *team, cancelled);
        body(operations);
      });
}

}  // namespace cpu

std::shared_ptr<Backend> create_cpu_backend(const BackendOptions& options) {
  return std::make_shared<cpu::CpuBackend>(options);
}

}  // namespace foldstep
