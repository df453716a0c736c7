// NCCL's calls over MPI: any number of ranks under a launcher, or one without.
#include <mpi.h>
#include <nccl.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "support.hpp"

using namespace foldstep::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t n = 700'000;  // more than one chunk

/// The tests, run by all ranks together; the first tells what all of them say.
class Job {
 public:
  Job() : launched_(std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) {
    if (!launched_) return;
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    must(cudaSetDevice(rank));
  }

  void operator()(const std::string& name, const std::function<void()>& body) {
    int passed = 1;
    try {
      body();
    } catch (const std::exception& error) {
      passed = 0;
      std::fprintf(stderr, "# %s: rank %d: %s\n", name.c_str(), rank, error.what());
    }
    if (launched_) MPI_Allreduce(MPI_IN_PLACE, &passed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    ++count_;
    failed_ += passed == 1 ? 0 : 1;
    if (rank == 0) std::printf("%s %d - %s\n", passed == 1 ? "ok" : "not ok", count_, name.c_str());
    std::fflush(stdout);
  }

  int finish() {
    if (launched_) MPI_Finalize();
    if (rank == 0) std::printf("1..%d\n", count_);
    return failed_ == 0 ? 0 : 1;
  }

  ncclUniqueId id() const {
    ncclUniqueId id{};
    if (rank == 0) good(ncclGetUniqueId(&id));
    if (launched_) MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    return id;
  }
  ncclComm_t communicator() const {
    ncclComm_t comm = nullptr;
    good(ncclCommInitRank(&comm, size, id(), rank));
    return comm;
  }
  static void good(ncclResult_t result) {
    if (result != ncclSuccess) throw std::runtime_error(ncclGetErrorString(result));
  }

  int rank = 0;
  int size = 1;

 private:
  bool launched_;
  int count_ = 0;
  int failed_ = 0;
};

float value_of(int rank, std::size_t i) {
  return static_cast<float>(static_cast<int>(i % 1000) + 1000 * rank);
}

std::vector<float> values_of(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, i);
  return values;
}

}  // namespace

int main() {
  Job job;
  const cudaStream_t stream = new_stream();
  const auto ranks = static_cast<std::size_t>(job.size);
  const auto self = static_cast<std::size_t>(job.rank);

  job("collectives give what they are to, in the stream's order", [&] {
    const ncclComm_t comm = job.communicator();
    const DeviceArray<float> sum(n);
    const DeviceArray<float> largest(n);
    const DeviceArray<float> all(n * ranks);
    const DeviceArray<float> part(n);
    const DeviceArray<float> told(n);
    sum.write(values_of(job.rank, n));
    largest.write(values_of(job.rank, n));
    told.write(values_of(job.rank, n));
    const int root = job.size - 1;
    Job::good(ncclAllGather(sum.data(), all.data(), n, ncclFloat32, comm, stream));
    Job::good(ncclAllReduce(sum.data(), sum.data(), n, ncclFloat32, ncclSum, comm, stream));
    Job::good(ncclAllReduce(largest.data(), largest.data(), n, ncclFloat32, ncclMax, comm, stream));
    Job::good(ncclReduceScatter(all.data(), part.data(), n, ncclFloat32, ncclSum, comm, stream));
    Job::good(ncclBroadcast(told.data(), told.data(), n, ncclFloat32, root, comm, stream));
    must(cudaStreamSynchronize(stream));
    const std::vector<float> sums = sum.read();
    const std::vector<float> parts = part.read();
    const std::vector<float> gathered = all.read();
    for (std::size_t i = 0; i < n; ++i) {
      float expected = 0;
      for (int rank = 0; rank < job.size; ++rank) expected += value_of(rank, i);
      CHECK(sums[i] == expected);
      CHECK(parts[i] == static_cast<float>(job.size) * value_of(job.rank, i));
    }
    for (std::size_t i = 0; i < gathered.size(); ++i) {
      CHECK(gathered[i] == value_of(static_cast<int>(i / n), i % n));
    }
    CHECK(largest.read() == values_of(root, n));
    CHECK(told.read() == values_of(root, n));
    Job::good(ncclCommDestroy(comm));
  });

  job("other types are reduced too", [&] {
    const ncclComm_t comm = job.communicator();
    const DeviceArray<std::int32_t> integers(1);
    const DeviceArray<double> doubles(1);
    const DeviceArray<std::uint16_t> halves(1);
    integers.write({job.rank - 5});
    doubles.write({0.5 * job.rank});
    halves.write({0x3f80});  // 1 in BF16
    Job::good(ncclAllReduce(integers.data(), integers.data(), 1, ncclInt32, ncclMin, comm, stream));
    Job::good(ncclAllReduce(doubles.data(), doubles.data(), 1, ncclFloat64, ncclSum, comm, stream));
    Job::good(ncclAllReduce(halves.data(), halves.data(), 1, ncclBfloat16, ncclSum, comm, stream));
    must(cudaStreamSynchronize(stream));
    CHECK(integers.read()[0] == -5);
    CHECK(doubles.read()[0] == 0.25 * job.size * (job.size - 1));
    const std::uint32_t bits = static_cast<std::uint32_t>(halves.read()[0]) << 16;
    CHECK(std::bit_cast<float>(bits) == static_cast<float>(job.size));
    Job::good(ncclCommDestroy(comm));
  });

  job("sends and receives of a group meet, whatever their order", [&] {
    const ncclComm_t comm = job.communicator();
    const DeviceArray<float> from(n * ranks);
    const DeviceArray<float> to(n * ranks);
    from.write(values_of(job.rank, n * ranks));
    Job::good(ncclGroupStart());
    for (int peer = job.size - 1; peer >= 0; --peer) {
      const auto at = static_cast<std::size_t>(peer) * n;
      Job::good(ncclSend(from.data() + at, n, ncclFloat32, peer, comm, stream));
      Job::good(ncclRecv(to.data() + at, n, ncclFloat32, peer, comm, stream));
    }
    Job::good(ncclGroupEnd());
    must(cudaStreamSynchronize(stream));
    const std::vector<float> received = to.read();
    for (std::size_t i = 0; i < received.size(); ++i) {
      CHECK(received[i] == value_of(static_cast<int>(i / n), self * n + i % n));
    }
    Job::good(ncclCommDestroy(comm));
  });

  job("a communicator is split by color and ordered by key", [&] {
    const ncclComm_t comm = job.communicator();
    ncclComm_t part = nullptr;
    Job::good(ncclCommSplit(comm, job.rank % 2, -job.rank, &part, nullptr));
    const DeviceArray<std::int32_t> mine(1);
    const int members = (job.size + 1 - job.rank % 2) / 2;
    const DeviceArray<std::int32_t> all(static_cast<std::size_t>(members));
    mine.write({job.rank});
    Job::good(ncclAllGather(mine.data(), all.data(), 1, ncclInt32, part, stream));
    must(cudaStreamSynchronize(stream));
    const std::vector<std::int32_t> order = all.read();
    for (int i = 0; i < members; ++i) {
      CHECK(order[static_cast<std::size_t>(i)] == 2 * (members - 1 - i) + job.rank % 2);
    }
    ncclComm_t none = comm;
    Job::good(ncclCommSplit(comm, NCCL_SPLIT_NOCOLOR, 0, &none, nullptr));
    CHECK(none == nullptr);
    Job::good(ncclCommDestroy(part));
    Job::good(ncclCommDestroy(comm));
  });

  job("a communicator that is not to block comes together in the background", [&] {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    const ncclUniqueId id = job.id();
    CHECK(ncclCommInitRankConfig(&comm, job.size, id, job.rank, &config) == ncclInProgress);
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) Job::good(ncclCommGetAsyncError(comm, &state));
    Job::good(state);
    const DeviceArray<float> values(1);
    values.write({1});
    Job::good(ncclAllReduce(values.data(), values.data(), 1, ncclFloat32, ncclSum, comm, stream));
    must(cudaStreamSynchronize(stream));
    CHECK(values.read()[0] == static_cast<float>(job.size));
    Job::good(ncclCommDestroy(comm));
  });

  if (job.size > 1) {
    job("an abort ends what a rank waits for that does not come", [&] {
      const ncclComm_t comm = job.communicator();
      const DeviceArray<float> values(n);
      if (job.rank != 0) {
        Job::good(ncclAllReduce(values.data(), values.data(), n, ncclFloat32, ncclSum, comm, stream));
        std::this_thread::sleep_for(20ms);
        CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
      }
      Job::good(ncclCommAbort(comm));
      must(cudaStreamSynchronize(stream));
    });

    job("two ranks on one device are refused", [&] {
      must(cudaSetDevice(0));
      ncclComm_t comm = nullptr;
      const ncclUniqueId id = job.id();
      CHECK(ncclCommInitRank(&comm, job.size, id, job.rank) == ncclInvalidUsage);
      CHECK(std::strstr(ncclGetLastError(nullptr), "have the same device") != nullptr);
      must(cudaSetDevice(job.rank));
    });
  }

  return job.finish();
}
