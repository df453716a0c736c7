// Who works on what: every covered element exactly once, whatever the sizes.
#include "check.hpp"
#include "fold/layout.hpp"

using namespace foldstep;

namespace {

/// The ranges follow each other from `whole.begin` to `whole.end`; empty ones may lie anywhere.
template <typename RangeOf>
void check_cover(Range whole, std::size_t count, const RangeOf& range_of) {
  std::size_t at = whole.begin;
  for (std::size_t i = 0; i < count; ++i) {
    const Range range = range_of(i);
    CHECK(range.begin <= range.end);
    if (range.size() == 0) continue;
    CHECK(range.begin == at);
    CHECK(at == whole.begin || at % 64 == 0 || count == 1);
    at = range.end;
  }
  CHECK(at == whole.end);
}

void check_parts(Range whole) {
  for (const std::size_t count : {1, 2, 3, 7, 8, 1000}) {
    check_cover(whole, count, [&](std::size_t i) { return whole.part(i, count); });
    for (std::size_t i = 0; i < count; ++i) CHECK(whole.part(i, count).size() <= whole.size() / count + 128);
  }
}

void check_layout(const Geometry& geometry, int members) {
  const Layout layout(geometry, members);
  std::size_t owned = 0;
  for (int m = 0; m < members; ++m) {
    const Range shard = layout.shard(m);
    const Range mine = layout.owned(m);
    CHECK(shard.begin >= geometry.begin && shard.end <= geometry.end);
    CHECK(mine.size() == 0 || (mine.begin >= shard.begin && mine.end <= shard.end));
    owned += mine.size();
  }
  CHECK(owned == geometry.end - geometry.begin);
  check_cover({geometry.begin, geometry.end}, static_cast<std::size_t>(members),
              [&](std::size_t i) { return layout.slice(static_cast<int>(i)); });
}

bool refused(const Geometry& geometry, int members, Code code) {
  try {
    const Layout layout(geometry, members);
  } catch (const Error& error) {
    return error.code() == code;
  }
  return false;
}

constexpr std::size_t huge = std::size_t{1} << 60;

}  // namespace

int main() {
  Tests test;
  test("parts cover a range in order, meet at multiples of 64 and are nearly equal", [] {
    for (std::size_t begin = 0; begin < 200; begin += 37) {
      for (const std::size_t size : {0, 1, 63, 64, 65, 1000, 12345}) check_parts({begin, begin + size});
    }
    check_parts({17, huge + 5});
  });
  test("chunks cover a range in order", [] {
    for (const std::size_t length : {1, 7, 64, 1000}) {
      const Range range{5, 505};
      std::size_t at = range.begin;
      for (std::size_t k = 0; k < 600; ++k) {
        const Range chunk = range.chunk(k, length);
        CHECK(chunk.begin == at && chunk.size() <= length);
        at = chunk.end;
      }
      CHECK(at == range.end);
    }
    const Range far = Range{3, huge}.chunk(std::size_t{1} << 40, std::size_t{1} << 19);
    CHECK(far.begin == (std::size_t{1} << 59) + 3 && far.size() == std::size_t{1} << 19);
    CHECK((Range{0, 10}.chunk(~std::size_t{0}, 1 << 20).size() == 0));
  });
  test("members own every covered element once, also above 2^32", [] {
    for (const int replicas : {1, 2, 4, 8}) {
      const auto shards = static_cast<std::size_t>(8 / replicas);
      for (const std::size_t shard_length : {std::size_t{1}, std::size_t{100}, huge / shards + 3}) {
        const std::size_t length = shards * shard_length;
        check_layout({0, length, replicas, shard_length}, 8);
        check_layout({length / 3, length - length / 5, replicas, shard_length}, 8);
        check_layout({length, length, replicas, shard_length}, 8);
        check_layout({shard_length - 1, shard_length, replicas, shard_length}, 8);
      }
    }
  });
  test("geometries that cannot be are refused", [] {
    CHECK(refused({0, 8, 3, 4}, 4, Code::InvalidArgument));
    CHECK(refused({0, 8, -2, 4}, 4, Code::InvalidArgument));
    CHECK(refused({0, 9, 2, 4}, 4, Code::InvalidLength));
    CHECK(refused({5, 4, 2, 4}, 4, Code::InvalidLength));
    CHECK(refused({0, 0, 1, ~std::size_t{0} / 2}, 4, Code::InvalidLength));
  });
  return test.finish();
}
