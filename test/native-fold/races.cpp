// Ranks that come at random moments and overwrite their gradients as soon as they may.
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "fold_job.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

constexpr int rounds = 200;

/// Adds up what a team's rounds must have given.
class Runner {
 public:
  Runner(FoldJob& job, Team team, std::size_t n, std::size_t offset)
      : job_(job), team_(std::move(team)), n_(n), offset_(offset), want_(n), random_(42U + job.rank()) {}

  /// `path` and `mirror` must be the same on all members; what differs is when they come.
  void round(Stream& stream, int number, Path path, bool mirror) {
    const std::uint64_t salt = static_cast<std::uint64_t>(number) * 16 + 1;
    const int members = team_.communicator->size();
    const int self = team_.communicator->rank();
    for (std::size_t e = 0; e < n_; ++e) {
      store(gradients(), e, made_up(salt + static_cast<std::uint64_t>(self), e, DType::BF16), DType::BF16);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 400));
    AccumulateRequest request;
    request.path = path;
    request.mirror = mirror;
    request.geometry = {0, n_, members, n_};
    request.gradient = {team_.window->slab(), offset_};
    request.accumulator = {team_.window->slab(), offset_ + 2 * n_};
    fold::prepare(*job_.backend, team_, request)->enqueue(stream, {});
    finish(stream);
    for (std::size_t e = 0; e < n_; ++e) {
      const float sum = ordered_sum(salt, members, e, DType::BF16);
      want_[e] += sum;
      const float got = load(accumulators(), e, DType::F32);
      if (!same_bits(got, want_[e])) throw_wrong("accumulator", e, got, want_[e]);
      const float mirrored = load(gradients(), e, DType::BF16);
      if (mirror && !same_bits(mirrored, rounded(sum, DType::BF16))) throw_wrong("mirror", e, mirrored, sum);
    }
    // From here on the gradients are the caller's: a peer that still read them would add this.
    for (std::size_t e = 0; e < n_; ++e) store(gradients(), e, 1e30F, DType::BF16);
  }

 private:
  std::byte* gradients() const { return team_.window->slab()->data() + offset_; }
  std::byte* accumulators() const { return gradients() + 2 * n_; }

  FoldJob& job_;
  Team team_;
  std::size_t n_;
  std::size_t offset_;
  std::vector<float> want_;
  std::minstd_rand random_;
};

constexpr Path shared_paths[] = {Path::Direct, Path::Owner};

}  // namespace

int main() {
  FoldJob job;
  constexpr std::size_t n = 1999;
  const std::shared_ptr<PeerWindow> window = job.window(job.world.communicator, 65536);

  job.test("200 rounds at random moments leave the right sums", [&] {
    Runner runner(job, {job.world.communicator, window, 0}, n, 0);
    for (int i = 0; i < rounds; ++i) runner.round(job.stream, i, shared_paths[i % 2], i % 3 == 0);
  });

  job.test("two teams use two channels of a window at once, each on a stream of its own", [&] {
    const int half = job.rank() < job.size() / 2 ? 0 : 1;
    const std::shared_ptr<Communicator> part = split(job.stream, *job.world.communicator, half);
    const auto other_stream = job.backend->create_stream();
    std::exception_ptr failure;
    std::thread other([&] {
      try {
        Runner runner(job, {part, window, 2}, n, 32768);
        for (int i = 0; i < rounds; ++i) runner.round(*other_stream, i, shared_paths[(i + half) % 2], false);
      } catch (...) {
        failure = std::current_exception();
      }
    });
    std::fill_n(window->slab()->data(), 32768, std::byte{0});
    try {
      Runner runner(job, {job.world.communicator, window, 1}, n, 0);
      for (int i = 0; i < rounds; ++i) runner.round(job.stream, i, shared_paths[i % 2], false);
    } catch (...) {
      other.join();
      throw;
    }
    other.join();
    if (failure) std::rethrow_exception(failure);
  });
  return job.end();
}
