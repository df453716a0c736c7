// What NCCL's part of the simulation does when it is asked to fail.
#include <nccl.h>

#include <chrono>
#include <thread>

#include "support.hpp"

using namespace foldstep::test;
using namespace std::chrono_literals;

namespace {

void good(ncclResult_t result) {
  if (result != ncclSuccess) throw std::runtime_error(ncclGetErrorString(result));
}

ncclComm_t alone() {
  ncclComm_t comm = nullptr;
  good(ncclCommInitRank(&comm, 1, {}, 0));
  return comm;
}

void register_window(bool expects_null) {
  const ncclComm_t comm = alone();
  void* memory = nullptr;
  ncclWindow_t window = nullptr;
  good(ncclMemAlloc(&memory, 100));
  good(ncclCommWindowRegister(comm, memory, 100, &window, NCCL_WIN_COLL_SYMMETRIC));
  CHECK((window == nullptr) == expects_null);
  good(ncclCommWindowDeregister(comm, window));
  good(ncclMemFree(memory));
}

}  // namespace

int main() {
  Tests test;

  test("a rank that has been dropped comes to no collective", [] {
    pass("drop-rank=0,drop-after=1", [] {
      const cudaStream_t stream = new_stream();
      const ncclComm_t comm = alone();
      const DeviceArray<float> values(1);
      good(ncclAllReduce(values.data(), values.data(), 1, ncclFloat32, ncclSum, comm, stream));
      must(cudaStreamSynchronize(stream));
      good(ncclAllReduce(values.data(), values.data(), 1, ncclFloat32, ncclSum, comm, stream));
      std::this_thread::sleep_for(20ms);
      CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
      good(ncclCommAbort(comm));
      must(cudaStreamSynchronize(stream));
    });
  });

  test("a window is null where it is asked to be", [] {
    pass("", [] { register_window(false); });
    pass("null-window", [] { register_window(true); });
  });

  test("what NCCL cannot do is refused", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      const ncclComm_t comm = alone();
      const DeviceArray<float> values(1);
      float pageable = 0;
      CHECK(ncclAllReduce(&pageable, values.data(), 1, ncclFloat32, ncclSum, comm, stream) ==
            ncclInvalidArgument);
      CHECK(ncclSend(values.data(), 1, ncclFloat32, 1, comm, stream) == ncclInvalidArgument);
      CHECK(ncclGroupEnd() == ncclInvalidUsage);
      ncclComm_t two = nullptr;
      CHECK(ncclCommInitRank(&two, 2, {}, 0) == ncclSystemError && two == nullptr);
    });
  });

  return test.finish();
}
