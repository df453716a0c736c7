// What a kernel may do, and what is told about one that does otherwise.
#include <cmath>

#include "support.hpp"

using namespace foldstep::cuda;
using namespace foldstep::test;

namespace {

constexpr unsigned blocks = 2;

FOLDSTEP_KERNEL(64, 1) reverse(const std::uint32_t* source, std::uint32_t* target, bool with_barrier) {
  FOLDSTEP_SHARED(std::uint32_t, kept, block_threads);
  const unsigned base = block_index() * block_threads;
  kept[thread_index()] = source[base + thread_index()];
  if (with_barrier) block_barrier();
  target[base + thread_index()] = kept[block_threads - 1 - thread_index()];
}

FOLDSTEP_KERNEL(64, 1) sum_of_warp(const double* source, double* target) {
  double value = source[thread_index()];
  for (int mask = warp_threads / 2; mask > 0; mask /= 2) value += warp_exchange(value, mask);
  target[thread_index()] = value;
}

FOLDSTEP_KERNEL(64, 1) tell_shared(float* values, std::uint32_t* differ) {
  FOLDSTEP_SHARED(float, first, block_threads);
  FOLDSTEP_SHARED(float, second, block_threads);
  values[thread_index()] = first[thread_index()] + second[thread_index()];
  differ[thread_index()] = +first != +second ? 1 : 0;
}

FOLDSTEP_KERNEL(64, 1) copy_vectors(const std::byte* source, std::byte* target) {
  const std::size_t at = thread_index() * sizeof(Vector);
  store_vector(target + at, load_vector(source + at));
}

FOLDSTEP_KERNEL(64, 1) leave_barrier_out(int) {
  if (thread_index() == 63) {
    warp_exchange(1, 1);
  } else {
    block_barrier();
  }
}

FOLDSTEP_KERNEL(64, 1) use_two_barriers(int) {
  if (thread_index() < 32) {
    block_barrier();
  } else {
    block_barrier();
  }
}

FOLDSTEP_KERNEL(64, 1) end_before_exchange(int) {
  if (thread_index() != 40) warp_exchange(1, 1);
}

FOLDSTEP_KERNEL(64, 1) end_before_barrier(std::uint32_t* passed) {
  if (thread_index() % 2 == 0) return;
  block_barrier();
  passed[thread_index()] = 1;
}

FOLDSTEP_KERNEL(64, 1) wait_for_ever(const std::uint32_t* flag) {
  if (block_index() == 1 && thread_index() == 7) {
    while (load_acquire_system(flag) != 1) foldstep::cuda::pause();
  }
}

/// `what` started once on a fresh device.
template <typename... Parameters, typename... Arguments>
Outcome run(const std::string& simulate, void (*kernel)(Parameters...), Arguments... arguments) {
  return play(simulate, [=] {
    const cudaStream_t stream = new_stream();
    must(start(kernel, blocks, stream, arguments...));
    must(cudaStreamSynchronize(stream));
  });
}

/// Whether `reverse` does what it is to.
bool reverses(int seed, bool with_barrier) {
  return play("seed=" + std::to_string(seed),
              [&] {
                const std::size_t n = blocks * block_threads;
                const cudaStream_t stream = new_stream();
                const DeviceArray<std::uint32_t> source(n);
                const DeviceArray<std::uint32_t> target(n);
                std::vector<std::uint32_t> values(n);
                for (std::uint32_t i = 0; i < n; ++i) values[i] = i;
                source.write(values);
                must(start(reverse, blocks, stream, source.data(), target.data(), with_barrier));
                must(cudaStreamSynchronize(stream));
                const std::vector<std::uint32_t> reversed = target.read();
                for (std::uint32_t i = 0; i < n; ++i) CHECK(reversed[i] == (i / 64 * 64) + 63 - i % 64);
              })
      .well();
}

}  // namespace

int main() {
  Tests test;

  test("what is stored before a barrier is read behind it", [] {
    for (int seed = 1; seed <= 10; ++seed) CHECK(reverses(seed, true));
  });

  test("a barrier that is missing shows with every seed", [] {
    for (int seed = 1; seed <= 10; ++seed) CHECK(!reverses(seed, false));
  });

  test("a tree of exchanges sums each warp on its own", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      const DeviceArray<double> source(block_threads);
      const DeviceArray<double> target(block_threads);
      std::vector<double> values(block_threads);
      for (int i = 0; i < block_threads; ++i) values[static_cast<std::size_t>(i)] = i;
      source.write(values);
      must(start(sum_of_warp, 1, stream, source.data(), target.data()));
      must(cudaStreamSynchronize(stream));
      const std::vector<double> sums = target.read();
      for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == (i < 32 ? 496 : 1520));
    });
  });

  test("shared arrays begin as NaN, each at a place of its own", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      const DeviceArray<float> values(block_threads);
      const DeviceArray<std::uint32_t> differ(block_threads);
      must(start(tell_shared, 1, stream, values.data(), differ.data()));
      must(cudaStreamSynchronize(stream));
      for (const float value : values.read()) CHECK(std::isnan(value));
      for (const std::uint32_t is : differ.read()) CHECK(is == 1);
    });
  });

  test("vectors go to and from addresses that are multiples of 16, and no others", [] {
    const auto copy = [](std::size_t misalignment) {
      return play("", [misalignment] {
        const cudaStream_t stream = new_stream();
        const DeviceArray<std::byte> source(2048);
        const DeviceArray<std::byte> target(2048);
        std::vector<std::byte> bytes(2048);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
        source.write(bytes);
        must(start(copy_vectors, 1, stream, source.data() + misalignment, target.data() + misalignment));
        must(cudaStreamSynchronize(stream));
        const std::vector<std::byte> copied = target.read();
        for (std::size_t i = misalignment; i < misalignment + 1024; ++i) CHECK(copied[i] == bytes[i]);
      });
    };
    CHECK(copy(0).well());
    CHECK(copy(16).well());
    const Outcome outcome = copy(8);
    CHECK(!outcome.well());
    CHECK(outcome.says("an access of 16 bytes") && outcome.says("kernels_test.cpp"));
  });

  test("a barrier that not all threads of the block reach is reported", [] {
    const Outcome outcome = run("", leave_barrier_out, 0);
    CHECK(!outcome.well());
    CHECK(outcome.says("no thread can go on") && outcome.says("block 1: threads 0 to 62 at the barrier"));
    CHECK(outcome.says("thread 63 at the exchange") && outcome.says("leave_barrier_out"));
  });

  test("two barriers in the place of one are reported", [] {
    const Outcome outcome = run("", use_two_barriers, 0);
    CHECK(!outcome.well());
    CHECK(outcome.says("at different barriers"));
  });

  test("an exchange that not all threads of the warp reach is reported", [] {
    const Outcome outcome = run("", end_before_exchange, 0);
    CHECK(!outcome.well());
    CHECK(outcome.says("not reached by all threads of its warp") && outcome.says("thread 40 ended"));
  });

  test("a barrier does not wait for threads that have ended", [] {
    pass("", [] {
      const cudaStream_t stream = new_stream();
      const DeviceArray<std::uint32_t> passed(block_threads);
      must(start(end_before_barrier, 1, stream, passed.data()));
      must(cudaStreamSynchronize(stream));
      for (std::size_t i = 1; i < block_threads; i += 2) CHECK(passed.read()[i] == 1);
    });
  });

  test("a kernel that does nothing but wait is reported", [] {
    const Outcome outcome = play("idle-limit-ms=200", [] {
      const cudaStream_t stream = new_stream();
      const DeviceArray<std::uint32_t> flag(1);
      must(start(wait_for_ever, blocks, stream, flag.data()));
      must(cudaStreamSynchronize(stream));
    });
    CHECK(!outcome.well());
    CHECK(outcome.says("nothing has happened for 200 ms"));
    CHECK(outcome.says("block 1: threads 0 to 6 ended; thread 7 running, last seen at"));
  });

  test("a kernel cannot be started without blocks, nor on another device's stream", [] {
    setenv("FOLDSTEP_SIMULATED_DEVICES", "2", 1);
    pass("", [] {
      const cudaStream_t stream = new_stream();
      CHECK(start(leave_barrier_out, 0, stream, 0) == cudaErrorInvalidConfiguration);
      must(cudaSetDevice(1));
      CHECK(start(leave_barrier_out, 1, stream, 0) == cudaErrorInvalidResourceHandle);
      CHECK(cudaGetLastError() == cudaSuccess);
    });
    unsetenv("FOLDSTEP_SIMULATED_DEVICES");
  });

  return test.finish();
}
