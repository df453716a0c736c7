// Reductions in place and gathers on every path against the scalar reference.
#include <cstring>
#include <vector>

#include "fold_job.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

constexpr float scale = 1.0F / 5;

struct Shape {
  Geometry geometry;
  std::size_t length;
};

std::vector<Shape> shapes(int members, bool replicas_too) {
  std::vector<Shape> result;
  for (int replicas = 1; replicas <= (replicas_too ? members : 1); ++replicas) {
    if (members % replicas != 0) continue;
    const auto shards = static_cast<std::size_t>(members / replicas);
    const std::size_t shard_length = 1000 / shards + 7;
    const std::size_t length = shards * shard_length;
    const std::size_t ranges[][2] = {
        {0, length}, {29, length - 130}, {9, 9}, {shard_length - 1, shard_length}};
    for (const auto& [begin, end] : ranges) result.push_back({{begin, end, replicas, shard_length}, length});
  }
  return result;
}

/// The covered elements of this rank's shard.
bool mine(const FoldJob& job, const Geometry& g, std::size_t e) {
  const std::size_t origin = static_cast<std::size_t>(job.rank() / g.replicas) * g.shard_length;
  return e >= g.begin && e < g.end && e >= origin && e < origin + g.shard_length;
}

void check_reduce(FoldJob& job, const Team& team, Path path, DType type, const Shape& shape, bool sharded,
                  const Span& data) {
  const auto salt = static_cast<std::uint64_t>(job.rank());
  for (std::size_t e = 0; e < shape.length; ++e) store(data.as<std::byte>(), e, made_up(salt, e, type), type);
  job.enqueue(team, ReduceRequest{path, type, sharded, scale, shape.geometry, data});
  finish(job.stream);
  for (std::size_t e = 0; e < shape.length; ++e) {
    const float before = made_up(salt, e, type);
    const float sum = ordered_sum(0, job.size(), e, type);
    const float want = mine(job, shape.geometry, e) ? rounded(scale * sum, type) : before;
    const float got = load(data.as<std::byte>(), e, type);
    if (!matches(path, got, want, type, 2.0F * static_cast<float>(job.size())))
      throw_wrong("element", e, got, want);
  }
}

void check_gather(FoldJob& job, const Team& team, Path path, DType type, const Shape& shape,
                  const Span& data) {
  const std::size_t width = size_of(type);
  const auto value = [&](int rank, std::size_t e, std::size_t byte) {
    return static_cast<std::byte>(static_cast<std::size_t>(rank) * 31 + e * 7 + byte * 3 + 1);
  };
  std::byte* const bytes = data.as<std::byte>();
  for (std::size_t e = 0; e < shape.length; ++e) {
    for (std::size_t b = 0; b < width; ++b) bytes[e * width + b] = value(job.rank(), e, b);
  }
  job.enqueue(team, GatherRequest{path, type, shape.geometry, data});
  finish(job.stream);
  for (std::size_t e = 0; e < shape.length; ++e) {
    const bool covered = e >= shape.geometry.begin && e < shape.geometry.end;
    const int from = covered ? static_cast<int>(e / shape.geometry.shard_length) : job.rank();
    for (std::size_t b = 0; b < width; ++b) {
      if (bytes[e * width + b] != value(from, e, b)) {
        throw std::runtime_error("element " + std::to_string(e) + " is not rank " + std::to_string(from) +
                                 "'s");
      }
    }
  }
}

}  // namespace

int main() {
  FoldJob job;
  const std::shared_ptr<PeerWindow> window = job.window(job.world.communicator, 16384);
  const Team team{job.world.communicator, window, 0};
  const Span data{window->slab(), 8 + 40 * static_cast<std::size_t>(job.rank())};
  Ledger& ledger = job.backend->ledger();
  for (const Path path : {Path::Direct, Path::Owner, Path::Exchange, Path::Library}) {
    const bool shared = path == Path::Direct || path == Path::Owner;
    job.test(name_of_path(path) + " reduces in place", [&] {
      ledger.reset_peak();
      for (const DType type : {DType::BF16, DType::F32}) {
        for (const Shape& shape : shapes(job.size(), true)) {
          const bool one_shard = shape.geometry.replicas == job.size();
          check_reduce(job, team, path, type, shape, false, data);
          if (one_shard) check_reduce(job, team, path, type, shape, true, data);
        }
      }
      if (shared) expect(ledger.peak_bytes() == 0, "temporaries were made");
    });
    job.test(name_of_path(path) + " gathers", [&] {
      ledger.reset_peak();
      for (const DType type : {DType::BF16, DType::F32, DType::F64, DType::U8}) {
        for (const Shape& shape : shapes(job.size(), false)) check_gather(job, team, path, type, shape, data);
      }
      expect(ledger.peak_bytes() == 0, "temporaries were made");
    });
  }
  job.test("library reduces FP32 over one shard without temporaries", [&] {
    ledger.reset_peak();
    const Shape shape{{0, 1000, job.size(), 1000}, 1000};
    check_reduce(job, team, Path::Library, DType::F32, shape, false, data);
    expect(ledger.peak_bytes() == 0, "temporaries were made");
  });
  return job.end();
}
