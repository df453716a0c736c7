// Ranks as real processes that reach each other's device memory and meet inside kernels.
#include <atomic>
#include <memory>

#include "support.hpp"

using namespace foldstep::cuda;
using namespace foldstep::test;

namespace {

constexpr unsigned words = block_threads;
constexpr int most_ranks = 4;

/// What a rank has in its own memory: a payload and a signal from every rank.
struct Slab {
  std::uint32_t payload[most_ranks][words];
  std::uint32_t signal[most_ranks];
};

struct Peers {
  Slab* slabs[most_ranks];
  int rank;
  int count;
};

enum class Fault { None, RelaxedSignal, NoBarrier };

/// Each rank stores a payload into its peers' slabs, signals, waits for theirs and counts what did not come.
FOLDSTEP_KERNEL(64, 1)
meet(FOLDSTEP_PARAMETER Peers peers, std::uint32_t epoch, Fault fault, std::uint32_t* stale) {
  const unsigned t = thread_index();
  for (int peer = 0; peer < peers.count; ++peer) {
    store_relaxed_system(&peers.slabs[peer]->payload[peers.rank][t], epoch * 1000 + t);
  }
  if (fault != Fault::NoBarrier) block_barrier();
  Slab& mine = *peers.slabs[peers.rank];
  if (t < static_cast<unsigned>(peers.count)) {
    std::uint32_t* signal = &peers.slabs[t]->signal[peers.rank];
    if (fault == Fault::RelaxedSignal) {
      store_relaxed_system(signal, epoch);
    } else {
      store_release_system(signal, epoch);
    }
    while (static_cast<std::int32_t>(load_acquire_system(&mine.signal[t]) - epoch) < 0) {
      foldstep::cuda::pause();
    }
  }
  block_barrier();
  for (int peer = 0; peer < peers.count; ++peer) {
    if (mine.payload[peer][t] < epoch * 1000 + t) __atomic_fetch_add(stale, 1U, __ATOMIC_RELAXED);
  }
}

struct Lobby {
  cudaIpcMemHandle_t handles[most_ranks];
  std::atomic<int> present;
  std::atomic<int> done;
  std::uint32_t stale[most_ranks];
};

void wait_for(const std::atomic<int>& counter, int value) {
  while (counter < value) usleep(200);
}

/// What one rank does. A kernel that waits for nobody would not end in case of a fault: the alarm ends the
/// process.
void play_rank(Lobby& lobby, int rank, int count, Fault fault, std::uint32_t epochs) {
  const cudaStream_t stream = new_stream();
  Slab* slab = nullptr;
  must(cudaMalloc(&slab, sizeof(Slab)));
  must(cudaMemset(slab, 0, sizeof(Slab)));
  const DeviceArray<std::uint32_t> stale(1);
  stale.write({0});
  must(cudaIpcGetMemHandle(&lobby.handles[rank], slab));
  ++lobby.present;
  wait_for(lobby.present, count);
  Peers peers{{}, rank, count};
  for (int peer = 0; peer < count; ++peer) {
    if (peer == rank) {
      peers.slabs[peer] = slab;
    } else {
      must(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&peers.slabs[peer]), lobby.handles[peer],
                                cudaIpcMemLazyEnablePeerAccess));
    }
  }
  for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) {
    must(start(meet, 1, stream, peers, epoch, fault, stale.data()));
  }
  must(cudaStreamSynchronize(stream));
  lobby.stale[rank] = stale.read()[0];
  ++lobby.done;
  wait_for(lobby.done, count);
  for (int peer = 0; peer < count; ++peer) {
    if (peer != rank) must(cudaIpcCloseMemHandle(peers.slabs[peer]));
  }
  must(cudaFree(slab));
}

/// Words that were not there although their signal was, over all ranks.
std::uint32_t stale_words(const std::string& simulate, int count, Fault fault, std::uint32_t epochs = 30) {
  const Shared<Lobby> lobby(1);
  std::vector<Process> ranks;
  for (int rank = 0; rank < count; ++rank) {
    ranks.emplace_back(simulate, [&, rank] { play_rank(lobby[0], rank, count, fault, epochs); });
  }
  std::uint32_t stale = 0;
  for (Process& rank : ranks) {
    const Outcome outcome = rank.wait();
    if (!outcome.well()) throw std::runtime_error("a rank failed: " + outcome.errors);
  }
  for (int rank = 0; rank < count; ++rank) stale += lobby[0].stale[rank];
  return stale;
}

}  // namespace

int main() {
  Tests test;

  test("processes meet inside kernels, and find what was stored before the signal", [] {
    CHECK(stale_words("seed=1", 2, Fault::None) == 0);
    CHECK(stale_words("seed=2", 4, Fault::None) == 0);
    for (int seed = 1; seed <= 5; ++seed) {
      CHECK(stale_words("delay,seed=" + std::to_string(seed), 2, Fault::None) == 0);
    }
    CHECK(stale_words("delay,seed=6", 4, Fault::None) == 0);
  });

  test("with delays, a signal that releases nothing arrives before what it is to announce", [] {
    for (int seed = 1; seed <= 3; ++seed) {
      CHECK(stale_words("delay,seed=" + std::to_string(seed), 2, Fault::RelaxedSignal) > 0);
    }
  });

  test("a barrier that is missing before the signal shows", [] {
    for (int seed = 1; seed <= 3; ++seed) {
      CHECK(stale_words("delay,seed=" + std::to_string(seed), 2, Fault::NoBarrier) > 0);
    }
  });

  test("signals of a rank that has been dropped do not arrive", [] {
    const Shared<Lobby> lobby(1);
    const auto rank = [&](int index) {
      return Process("drop-rank=1,drop-after=2,idle-limit-ms=300", [&, index] {
        setenv("OMPI_COMM_WORLD_RANK", std::to_string(index).c_str(), 1);
        play_rank(lobby[0], index, 2, Fault::None, 3);
      });
    };
    Process left = rank(0);
    Process dropped = rank(1);
    const Outcome outcome = left.wait();
    CHECK(!outcome.well() && outcome.says("nothing has happened for 300 ms"));
    CHECK(lobby[0].done == 1);  // the one that was dropped has heard all
    lobby[0].done = 2;
    CHECK(dropped.wait().well());
  });

  test("a handle opens to the same address twice, and not in its own process", [] {
    const Shared<Lobby> lobby(1);
    Process owner("", [&] {
      DeviceArray<std::uint32_t> values(1000);
      values.write({7});
      must(cudaIpcGetMemHandle(&lobby[0].handles[0], values.data()));
      CHECK(cudaIpcGetMemHandle(&lobby[0].handles[1], values.data() + 1) == cudaErrorInvalidValue);
      void* address = nullptr;
      CHECK(cudaIpcOpenMemHandle(&address, lobby[0].handles[0], cudaIpcMemLazyEnablePeerAccess) ==
            cudaErrorDeviceUninitialized);
      ++lobby[0].present;
      wait_for(lobby[0].done, 1);
    });
    pass("", [&] {
      wait_for(lobby[0].present, 1);
      void* first = nullptr;
      void* second = nullptr;
      CHECK(cudaIpcOpenMemHandle(&first, lobby[0].handles[0], 0) == cudaErrorInvalidValue);
      must(cudaIpcOpenMemHandle(&first, lobby[0].handles[0], cudaIpcMemLazyEnablePeerAccess));
      must(cudaIpcOpenMemHandle(&second, lobby[0].handles[0], cudaIpcMemLazyEnablePeerAccess));
      CHECK(first == second);
      must(cudaIpcCloseMemHandle(first));
      std::uint32_t value = 0;
      must(cudaMemcpy(&value, first, 4, cudaMemcpyDeviceToHost));
      CHECK(value == 7);
      must(cudaIpcCloseMemHandle(first));
      CHECK(cudaIpcCloseMemHandle(first) == cudaErrorInvalidValue);
      ++lobby[0].done;
    });
    CHECK(owner.wait().well());
  });

  return test.finish();
}
