// The runtime's part of the simulation: order, copies, errors, memory.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "support.hpp"

using namespace foldstep::cuda;
using namespace foldstep::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t n = 1000;

FOLDSTEP_KERNEL(64, 1) wait_for_host(const std::uint32_t* gate) {
  if (thread_index() == 0) {
    while (load_acquire_system(gate) != 1) foldstep::cuda::pause();
  }
}

FOLDSTEP_KERNEL(64, 1) add_one(std::uint32_t* values, std::size_t count) {
  for (std::size_t i = thread_index(); i < count; i += block_threads) ++values[i];
}

FOLDSTEP_KERNEL(64, 1) disagree_about_barriers(int) {
  if (thread_index() < 32) block_barrier();
  if (thread_index() >= 32) block_barrier();
}

FOLDSTEP_KERNEL(64, 1) write_before(std::uint8_t* at) {
  if (thread_index() == 0) at[-1] = 1;
}

/// Pinned memory by which the host holds a stream up.
class Gate {
 public:
  Gate() {
    must(cudaHostAlloc(&word_, sizeof *word_, cudaHostAllocPortable));
    *word_ = 0;
  }
  void close_on(cudaStream_t stream) const { must(start(wait_for_host, 1, stream, word_)); }
  void open() const { __atomic_store_n(word_, 1U, __ATOMIC_RELEASE); }

 private:
  std::uint32_t* word_ = nullptr;
};

}  // namespace

int main() {
  Tests test;

  test("a stream is asynchronous, and keeps its order", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      const Gate gate;
      const DeviceArray<std::uint32_t> values(n);
      gate.close_on(stream);
      must(cudaMemsetAsync(values.data(), 0, n * 4, stream));
      for (int i = 0; i < 3; ++i) must(start(add_one, 1, stream, values.data(), n));
      CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
      gate.open();
      must(cudaStreamSynchronize(stream));
      for (const std::uint32_t value : values.read()) CHECK(value == 3);
    });
  });

  test("arguments are those of the start", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      const Gate gate;
      const DeviceArray<std::uint32_t> values(n);
      values.write(std::vector<std::uint32_t>(n));
      gate.close_on(stream);
      std::size_t count = n;
      must(start(add_one, 1, stream, values.data(), count));
      count = 0;
      gate.open();
      must(cudaStreamSynchronize(stream));
      for (const std::uint32_t value : values.read()) CHECK(value == 1);
    });
  });

  test("an event is of the moment it was recorded at, and holds another stream up", [] {
    pass("", [] {
      const cudaStream_t first = new_stream();
      const cudaStream_t second = new_stream();
      cudaEvent_t event = nullptr;
      must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      CHECK(cudaEventQuery(event) == cudaSuccess);
      const Gate early;
      const Gate late;
      const DeviceArray<std::uint32_t> values(n);
      early.close_on(first);
      must(cudaMemsetAsync(values.data(), 0, n * 4, first));
      must(cudaEventRecord(event, first));
      late.close_on(first);
      must(cudaStreamWaitEvent(second, event, 0));
      must(start(add_one, 1, second, values.data(), n));
      CHECK(cudaEventQuery(event) == cudaErrorNotReady);
      CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
      early.open();
      must(cudaEventSynchronize(event));
      must(cudaStreamSynchronize(second));
      CHECK(cudaStreamQuery(first) == cudaErrorNotReady);
      late.open();
      must(cudaStreamSynchronize(first));
      for (const std::uint32_t value : values.read()) CHECK(value == 1);
    });
  });

  test("the null stream waits for streams that synchronize with it, and for no others", [] {
    pass("", [] {
      const cudaStream_t blocking = new_stream(cudaStreamDefault);
      const cudaStream_t other = new_stream(cudaStreamNonBlocking);
      const Gate gate_of_blocking;
      const Gate gate_of_other;
      const DeviceArray<std::uint32_t> values(n);
      values.write(std::vector<std::uint32_t>(n));
      gate_of_other.close_on(other);
      CHECK(values.read()[0] == 0);
      gate_of_blocking.close_on(blocking);
      must(start(add_one, 1, blocking, values.data(), n));
      std::thread opener([&] {
        std::this_thread::sleep_for(50ms);
        gate_of_blocking.open();
      });
      CHECK(values.read()[0] == 1);
      opener.join();
      gate_of_other.open();
      must(cudaDeviceSynchronize());
    });
  });

  test("pageable memory is taken at once, pinned memory when the stream comes to it", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      const Gate gate;
      const DeviceArray<std::uint32_t> from_pageable(1);
      const DeviceArray<std::uint32_t> from_pinned(1);
      std::uint32_t pageable = 1;
      std::uint32_t* pinned = nullptr;
      must(cudaHostAlloc(&pinned, sizeof *pinned, cudaHostAllocDefault));
      *pinned = 1;
      gate.close_on(stream);
      must(cudaMemcpyAsync(from_pageable.data(), &pageable, 4, cudaMemcpyHostToDevice, stream));
      must(cudaMemcpyAsync(from_pinned.data(), pinned, 4, cudaMemcpyHostToDevice, stream));
      pageable = 2;
      *pinned = 2;
      gate.open();
      must(cudaStreamSynchronize(stream));
      CHECK(from_pageable.read()[0] == 1);
      CHECK(from_pinned.read()[0] == 2);
      // Into pageable memory: done when the call returns.
      std::uint32_t back = 0;
      must(cudaMemcpyAsync(&back, from_pinned.data(), 4, cudaMemcpyDeviceToHost, stream));
      CHECK(back == 2);
    });
  });

  test("copies of a wrong kind or beyond an allocation are refused", [] {
    pass("", [] {
      const DeviceArray<std::uint32_t> values(n);
      std::vector<std::uint32_t> host(2 * n);
      CHECK(cudaMemcpy(values.data(), host.data(), 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
      CHECK(cudaMemcpy(host.data(), values.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
      CHECK(cudaMemcpy(values.data(), host.data(), 8 * n, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
      CHECK(cudaMemcpy(values.data(), host.data(), 4, static_cast<cudaMemcpyKind>(9)) ==
            cudaErrorInvalidMemcpyDirection);
      CHECK(cudaMemcpy(values.data(), host.data(), 4, cudaMemcpyDefault) == cudaSuccess);
      CHECK(cudaMemset(host.data(), 0, 4) == cudaErrorInvalidValue);
    });
  });

  test("an error is told once, on the thread that caused it", [] {
    pass("", [] {
      CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
      std::thread([] { CHECK(cudaGetLastError() == cudaSuccess); }).join();
      CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
      CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
      CHECK(cudaGetLastError() == cudaSuccess);
      CHECK(std::string(cudaGetErrorName(cudaErrorNotReady)) == "cudaErrorNotReady");
      CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
    });
  });

  test("after a kernel has failed everything gives its error, and nothing hangs", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      void* memory = nullptr;
      cudaEvent_t event = nullptr;
      must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      must(cudaMalloc(&memory, 4));
      must(start(disagree_about_barriers, 1, stream, 0));
      cudaEventRecord(event, stream);
      CHECK(cudaEventSynchronize(event) == cudaErrorLaunchFailure);
      CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
      CHECK(cudaMalloc(&memory, 4) == cudaErrorLaunchFailure);
      CHECK(cudaFree(memory) == cudaErrorLaunchFailure);
      CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
      CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
      CHECK(cudaStreamDestroy(stream) == cudaErrorLaunchFailure);
    });
  });

  test("device memory begins as NaN and is aligned to 256 bytes", [] {
    pass("", [] {
      const DeviceArray<float> values(n);
      CHECK(reinterpret_cast<std::uintptr_t>(values.data()) % 256 == 0);
      for (const float value : values.read()) CHECK(std::isnan(value));
      void* none = &none;
      must(cudaMalloc(&none, 0));
      CHECK(none == nullptr);
      must(cudaFree(none));
      CHECK(cudaFree(values.data() + 1) == cudaErrorInvalidValue);
    });
  });

  test("the host cannot touch device memory", [] {
    const Outcome outcome = play("", [] {
      const DeviceArray<std::uint32_t> values(n);
      values.write(std::vector<std::uint32_t>(n));
      std::atomic_ref(*values.data()).load();
    });
    CHECK(outcome.faulted());
  });

  test("what is written beyond the ends of an allocation is noticed", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      std::uint8_t* bytes = nullptr;
      must(cudaMalloc(&bytes, 100));
      must(start(write_before, 1, stream, bytes));
      must(cudaStreamSynchronize(stream));
      CHECK(cudaFree(bytes) == cudaErrorIllegalAddress);
    });
    const Outcome outcome = play("", [] {
      const cudaStream_t stream = new_stream();
      std::uint8_t* bytes = nullptr;
      must(cudaMalloc(&bytes, 256));
      must(start(write_before, 1, stream, bytes + 257));
      cudaStreamSynchronize(stream);
    });
    CHECK(outcome.faulted());
  });

  test("memory runs out when it is asked to, and when there is no more", [] {
    pass("fail-allocation=2", [] {
      void* memory = nullptr;
      must(cudaMalloc(&memory, 4));
      CHECK(cudaMalloc(&memory, 4) == cudaErrorMemoryAllocation);
      CHECK(memory == nullptr);
      must(cudaMalloc(&memory, 4));
      std::size_t available = 0;
      std::size_t total = 0;
      must(cudaMemGetInfo(&available, &total));
      CHECK(available == total - 8);
      CHECK(cudaMalloc(&memory, available + 1) == cudaErrorMemoryAllocation);
      CHECK(cudaMalloc(&memory, std::numeric_limits<std::size_t>::max()) == cudaErrorMemoryAllocation);
    });
  });

  test("pointers are told apart", [] {
    pass("", [] {
      const DeviceArray<float> values(n);
      void* pinned = nullptr;
      int here = 0;
      must(cudaHostAlloc(&pinned, 100, cudaHostAllocPortable));
      cudaPointerAttributes attributes;
      must(cudaPointerGetAttributes(&attributes, values.data() + 5));
      CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
      must(cudaPointerGetAttributes(&attributes, values.data() + n));
      CHECK(attributes.type == cudaMemoryTypeUnregistered);
      must(cudaPointerGetAttributes(&attributes, pinned));
      CHECK(attributes.type == cudaMemoryTypeHost);
      must(cudaPointerGetAttributes(&attributes, &here));
      CHECK(attributes.type == cudaMemoryTypeUnregistered);
      must(cudaFreeHost(pinned));
    });
  });

  test("devices have identities of their own; there may be none, or no driver", [] {
    setenv("FOLDSTEP_SIMULATED_DEVICES", "2", 1);
    pass("", [] {
      int count = 0;
      must(cudaGetDeviceCount(&count));
      CHECK(count == 2);
      cudaDeviceProp first;
      cudaDeviceProp second;
      must(cudaGetDeviceProperties(&first, 0));
      must(cudaGetDeviceProperties(&second, 1));
      CHECK(first.multiProcessorCount == 2);
      CHECK(std::memcmp(&first.uuid, &second.uuid, sizeof first.uuid) != 0);
    });
    setenv("FOLDSTEP_SIMULATED_DEVICES", "0", 1);
    pass("", [] {
      int count = 1;
      CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0);
    });
    unsetenv("FOLDSTEP_SIMULATED_DEVICES");
    pass("no-driver", [] {
      int count = 1;
      int version = 1;
      CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
      must(cudaDriverGetVersion(&version));
      CHECK(version == 0);
    });
  });

  test("a word of FOLDSTEP_SIMULATE that means nothing is an error", [] {
    const Outcome outcome = play("seed=1,dealy", [] { new_stream(); });
    CHECK(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 2);
    CHECK(outcome.says("\"dealy\""));
  });

  return test.finish();
}
