#include "cpu/comm/bf16_collectives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "numerics/bf16.hpp"

namespace foldstep::cpu {
namespace {

constexpr std::size_t buffer_values = (std::size_t{1} << 20) / sizeof(std::uint16_t);

float combine(float a, float b, ReduceOp op) {
  if (op == ReduceOp::Sum) return a + b;
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return op == ReduceOp::Max ? std::max(a, b) : std::min(a, b);
}

/// target[i] = row 0 [i], row 1 [i], ... combined; rows of n values follow each other in `rows`; target may
/// be row 0.
void combine_rows(const std::uint16_t* rows, std::size_t row_count, std::size_t n, ReduceOp op,
                  std::uint16_t* target) {
  constexpr std::size_t block = 512;
  std::array<float, block> values;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t length = std::min(block, n - begin);
    for (std::size_t i = 0; i < length; ++i) values[i] = numerics::bf16_to_f32(rows[begin + i]);
    for (std::size_t row = 1; row < row_count; ++row) {
      const std::uint16_t* next = rows + row * n + begin;
      for (std::size_t i = 0; i < length; ++i)
        values[i] = combine(values[i], numerics::bf16_to_f32(next[i]), op);
    }
    for (std::size_t i = 0; i < length; ++i) target[begin + i] = numerics::f32_to_bf16(values[i]);
  }
}

/// Byte counts and offsets of an all-to-all.
struct Layout {
  std::vector<std::size_t> bytes;
  std::vector<std::size_t> offsets;
};

/// A block of n values for each member, `stride` values apart.
Layout blocks(std::size_t members, std::size_t n, std::size_t stride) {
  Layout layout{std::vector<std::size_t>(members, n * sizeof(std::uint16_t)),
                std::vector<std::size_t>(members)};
  for (std::size_t i = 0; i < members; ++i) layout.offsets[i] = i * stride * sizeof(std::uint16_t);
  return layout;
}

/// n values cut into one slice per member, as equal as can be.
Layout slices(std::size_t members, std::size_t n) {
  Layout layout;
  for (std::size_t i = 0; i < members; ++i) {
    const std::size_t begin = n * i / members;
    layout.offsets.push_back(begin * sizeof(std::uint16_t));
    layout.bytes.push_back((n * (i + 1) / members - begin) * sizeof(std::uint16_t));
  }
  return layout;
}

}  // namespace

void all_reduce_bf16(Transport& transport, std::uint16_t* data, std::size_t count, ReduceOp op,
                     const Wait& wait) {
  const auto members = static_cast<std::size_t>(transport.size());
  const auto self = static_cast<std::size_t>(transport.rank());
  // A chunk is cut into one slice per member; the slices of this rank, one from each member, fill the buffer.
  const std::size_t chunk = std::max<std::size_t>(members, buffer_values - buffer_values % members);
  const std::shared_ptr<std::uint16_t[]> buffer(new std::uint16_t[std::min(chunk, count + members)]);
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const Layout slice = slices(members, std::min(chunk, count - begin));
    const std::size_t mine = slice.bytes[self] / sizeof(std::uint16_t);
    const Layout rows = blocks(members, mine, mine);
    wait(transport.all_to_all(data + begin, slice.bytes, slice.offsets, buffer.get(), rows.bytes,
                              rows.offsets),
         buffer);
    combine_rows(buffer.get(), members, mine, op, buffer.get());
    const Layout result = blocks(members, mine, 0);
    wait(transport.all_to_all(buffer.get(), result.bytes, result.offsets, data + begin, slice.bytes,
                              slice.offsets),
         buffer);
  }
}

void reduce_scatter_bf16(Transport& transport, const std::uint16_t* source, std::uint16_t* target,
                         std::size_t count, ReduceOp op, const Wait& wait) {
  const auto members = static_cast<std::size_t>(transport.size());
  const std::size_t chunk =
      std::clamp<std::size_t>(buffer_values / members, 1, std::max<std::size_t>(count, 1));
  const std::shared_ptr<std::uint16_t[]> buffer(new std::uint16_t[chunk * members]);
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t n = std::min(chunk, count - begin);
    const Layout send = blocks(members, n, count);
    const Layout rows = blocks(members, n, n);
    wait(transport.all_to_all(source + begin, send.bytes, send.offsets, buffer.get(), rows.bytes,
                              rows.offsets),
         buffer);
    combine_rows(buffer.get(), members, n, op, target + begin);
  }
}

}  // namespace foldstep::cpu
