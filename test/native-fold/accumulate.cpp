// Every way to accumulate against the scalar reference, with a look at all that must not change.
#include <vector>

#include "fold_job.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

constexpr float scale = 1.0F / 3;
constexpr std::uint64_t accumulator_salt = 1000;

struct Buffers {
  Span gradient;
  Span accumulator;
};

class Case {
 public:
  Case(FoldJob& job, AccumulateRequest request, std::shared_ptr<PeerWindow> window, Buffers memory)
      : job_(job), request_(std::move(request)), window_(std::move(window)) {
    request_.gradient = memory.gradient;
    request_.accumulator = memory.accumulator;
    request_.scale = scale;
    const Geometry& g = request_.geometry;
    shards_ = static_cast<std::size_t>(job.size() / g.replicas);
    length_ = shards_ * g.shard_length;
    origin_ = static_cast<std::size_t>(job.rank() / g.replicas) * g.shard_length;
    held_begin_ = request_.sharded ? origin_ : 0;
    held_end_ = request_.sharded ? origin_ + g.shard_length : length_;
  }

  void run_and_check() {
    fill();
    job_.enqueue({job_.world.communicator, window_, 3}, request_);
    finish(job_.stream);
    check();
  }

 private:
  void fill() {
    for (std::size_t e = 0; e < length_; ++e)
      store(gradients(), e, gradient_before(e), request_.gradient_type);
    for (std::size_t e = held_begin_; e < held_end_; ++e) {
      store(accumulators(), e - held_begin_, made_up(accumulator_salt, e, DType::F32), DType::F32);
    }
  }

  void check() const {
    const DType type = request_.gradient_type;
    for (std::size_t e = 0; e < length_; ++e) {
      const bool mirrored = request_.mirror && covered(e);
      const float want = mirrored ? rounded(corrected(e), type) : gradient_before(e);
      const float got = load(gradients(), e, type);
      if (!matches(request_.path, got, want, type, magnitude())) throw_wrong("gradient", e, got, want);
    }
    for (std::size_t e = held_begin_; e < held_end_; ++e) {
      const bool mine = covered(e) && e >= origin_ && e < origin_ + request_.geometry.shard_length;
      const float before = made_up(accumulator_salt, e, DType::F32);
      const float want = mine ? accumulated(before, corrected(e)) : before;
      const float got = load(accumulators(), e - held_begin_, DType::F32);
      const DType precision = request_.accumulation == Accumulation::BF16 ? DType::BF16 : DType::F32;
      if (!matches(request_.path, got, want, precision, magnitude()))
        throw_wrong("accumulator", e, got, want);
    }
  }

  float accumulated(float before, float gradient) const {
    if (request_.accumulation == Accumulation::FP32) return before + gradient;
    return rounded(before + rounded(gradient, DType::BF16), DType::BF16);
  }
  float corrected(std::size_t e) const {
    const float product = scale * ordered_sum(0, job_.size(), e, request_.gradient_type);
    return product;
  }
  float gradient_before(std::size_t e) const {
    return made_up(static_cast<std::uint64_t>(job_.rank()), e, request_.gradient_type);
  }
  bool covered(std::size_t e) const { return e >= request_.geometry.begin && e < request_.geometry.end; }
  float magnitude() const { return 2.0F * static_cast<float>(job_.size()); }
  std::byte* gradients() const { return request_.gradient.as<std::byte>(); }
  std::byte* accumulators() const { return request_.accumulator.as<std::byte>(); }

  FoldJob& job_;
  AccumulateRequest request_;
  std::shared_ptr<PeerWindow> window_;
  std::size_t shards_;
  std::size_t length_;
  std::size_t origin_;
  std::size_t held_begin_;
  std::size_t held_end_;
};

std::vector<Geometry> geometries(int members) {
  std::vector<Geometry> result;
  for (int replicas = 1; replicas <= members; ++replicas) {
    if (members % replicas != 0) continue;
    const auto shards = static_cast<std::size_t>(members / replicas);
    const std::size_t shard_length = 600 / shards + 13;
    const std::size_t length = shards * shard_length;
    const std::size_t ranges[][2] = {{0, length},
                                     {37, length - 91},
                                     {5, 5},
                                     {length - 1, length},
                                     {shard_length / 4, shard_length / 4 + 3}};
    for (const auto& [begin, end] : ranges) result.push_back({begin, end, replicas, shard_length});
  }
  return result;
}

/// All that a path is asked for, on a window whose offsets differ between the ranks.
void run_all(FoldJob& job, Path path, bool mirror, bool with_window,
             const std::shared_ptr<PeerWindow>& window) {
  const auto rank = static_cast<std::size_t>(job.rank());
  const std::shared_ptr<Memory> slab =
      with_window ? window->slab() : job.backend->allocate(window->slab()->bytes());
  const Buffers memory{{slab, 64 + 36 * rank}, {slab, 16384 + 4 * rank}};
  for (const DType type : {DType::BF16, DType::F32}) {
    for (const Accumulation accumulation : {Accumulation::FP32, Accumulation::BF16}) {
      for (const bool sharded : {false, true}) {
        for (const Geometry& geometry : geometries(job.size())) {
          AccumulateRequest request;
          request.path = path;
          request.gradient_type = type;
          request.accumulation = accumulation;
          request.mirror = mirror;
          request.sharded = sharded;
          request.geometry = geometry;
          Case(job, request, with_window ? window : nullptr, memory).run_and_check();
        }
      }
    }
  }
}

/// Long enough for several chunks of an exchange.
void run_long(FoldJob& job, Path path, DType type, bool mirror, int replicas) {
  const auto shards = static_cast<std::size_t>(job.size() / replicas);
  const std::size_t shard_length = 1'300'003 / shards;
  const std::size_t length = shard_length * shards;
  AccumulateRequest request;
  request.path = path;
  request.gradient_type = type;
  request.mirror = mirror;
  request.sharded = true;
  request.geometry = {11, length - 7, replicas, shard_length};
  const Buffers memory{{job.backend->allocate(length * size_of(type)), 0},
                       {job.backend->allocate(shard_length * sizeof(float)), 0}};
  Case(job, request, nullptr, memory).run_and_check();
}

}  // namespace

int main() {
  FoldJob job;
  Ledger& ledger = job.backend->ledger();
  const std::shared_ptr<PeerWindow> window = job.window(job.world.communicator, 32768);
  for (const Path path : {Path::Direct, Path::Owner, Path::Exchange, Path::Library}) {
    for (const bool mirror : {false, true}) {
      const std::string name = name_of_path(path) + (mirror ? " accumulates and mirrors" : " accumulates");
      job.test(name + " as the reference does, over all geometries and types", [&] {
        ledger.reset_peak();
        run_all(job, path, mirror, true, window);
        if (path == Path::Direct || path == Path::Owner)
          expect(ledger.peak_bytes() == 0, "temporaries were made");
      });
      if (path == Path::Direct || path == Path::Owner) continue;
      job.test(name + " without a window", [&] { run_all(job, path, mirror, false, window); });
    }
  }
  job.test("exchange of several chunks gives the same bits in at most 2 MiB", [&] {
    ledger.reset_peak();
    run_long(job, Path::Exchange, DType::BF16, true, job.size());
    run_long(job, Path::Exchange, DType::F32, false, 1);
    expect(ledger.current_bytes() == 0, "temporaries were kept");
    expect(ledger.peak_bytes() > (1 << 20) && ledger.peak_bytes() <= (2 << 20),
           "the peak is " + std::to_string(ledger.peak_bytes()));
  });
  job.test("library holds four bytes per element", [&] {
    ledger.reset_peak();
    run_long(job, Path::Library, DType::BF16, true, job.size());
    const std::size_t covered = 1'300'003 - 18;
    expect(ledger.peak_bytes() == 4 * covered, "the peak is " + std::to_string(ledger.peak_bytes()));
  });
  return job.end();
}
