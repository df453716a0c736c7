#include <string>
#include <utility>

#include "cuda/comm/nccl.hpp"
#include "cuda/comm/nccl_group.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

#if FOLDSTEP_NCCL_WINDOWS

namespace {

void* allocate(Context& context, const NcclLibrary& nccl, std::size_t bytes) {
  context.use();
  void* data = nullptr;
  ncclResult_t result = nccl.allocate(&data, bytes);
  if (result != ncclSuccess && context.finish_frees()) result = nccl.allocate(&data, bytes);
  if (result == ncclSuccess) return data;
  // CUDA keeps it for the next call that asks, which would take it for its own.
  cudaGetLastError();
  throw Error(Code::PathUnavailable,
              "NCCL gives no " + std::to_string(bytes) + " bytes for a window: " + nccl.error_string(result));
}

class NcclMemory final : public SymmetricMemory {
 public:
  NcclMemory(const std::shared_ptr<Context>& context, const NcclLibrary& nccl, std::size_t bytes)
      : context_(context), nccl_(nccl), bytes_(bytes), data_(allocate(*context, nccl, bytes)) {}

  ~NcclMemory() override {
    Context::free_later(context_, [&nccl = nccl_, group = group_, window = window_, data = data_] {
      if (window != nullptr) {
        group->release([&](ncclComm_t communicator) { nccl.deregister_window(communicator, window); });
      }
      nccl.free(data);
    });
  }

  std::byte* data() const override { return static_cast<std::byte*>(data_); }

  std::vector<std::byte*> share(StreamWorker& worker, Communicator& host) override {
    register_window(worker, host);
    // NCCL succeeds without a window where the devices or the driver have none.
    if (window_ == nullptr) throw Error(Code::PathUnavailable, "NCCL gives it no symmetric window");
    std::vector<std::byte*> places;
    for (int m = 0; m < host.size(); ++m) places.push_back(m == host.rank() ? data() : place_of(host, m));
    return places;
  }

 private:
  /// On a communicator of its own, so that if it fails the group's collectives are still carried.
  void register_window(StreamWorker& worker, Communicator& host) {
    try {
      group_ = NcclGroup::create(worker, host);
      group_->run(worker, "registering a window", [&](ncclComm_t communicator) {
        return nccl_.register_window(communicator, data_, bytes_, &window_, NCCL_WIN_COLL_SYMMETRIC);
      });
    } catch (const Error& error) {
      // Also a member that waits for one that has failed can take another path.
      if (error.code() != Code::NcclFailed && error.code() != Code::DeadlineExceeded) throw;
      throw Error(Code::PathUnavailable, error.what());
    }
  }

  std::byte* place_of(const Communicator& host, int member) const {
    void* place = nullptr;
    const ncclResult_t result = nccl_.peer_pointer(window_, 0, member, &place);
    if (result == ncclSuccess && place != nullptr) return static_cast<std::byte*>(place);
    throw Error(Code::PathUnavailable,
                "NCCL does not reach the memory of rank " +
                    std::to_string(host.world_ranks()[static_cast<std::size_t>(member)]) +
                    " by loads and stores" +
                    (result == ncclSuccess ? "" : std::string(": ") + nccl_.error_string(result)));
  }

  std::shared_ptr<Context> context_;
  const NcclLibrary& nccl_;
  std::size_t bytes_;
  void* data_;
  std::shared_ptr<NcclGroup> group_;
  ncclWindow_t window_ = nullptr;
};

}  // namespace

std::shared_ptr<SymmetricMemory> create_symmetric_memory(const std::shared_ptr<Context>& context,
                                                         std::size_t bytes) {
  const NcclLibrary& nccl = NcclLibrary::get();
  if (!nccl.has_windows) {
    throw Error(Code::PathUnavailable, "NCCL " + find_nccl().text + " lacks windows as of 2.29.2");
  }
  const auto memory = std::make_shared<NcclMemory>(context, nccl, bytes);
  context->side_stream.zero(memory->data(), bytes);
  return memory;
}

#else

std::shared_ptr<SymmetricMemory> create_symmetric_memory(const std::shared_ptr<Context>&, std::size_t) {
  throw Error(Code::PathUnavailable,
              "windows of NCCL are not built in: nccl.h was older than 2.29.2; run `node "
              "scripts/get-nccl.mjs` and build again");
}

#endif

}  // namespace foldstep::cuda
