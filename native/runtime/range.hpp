#pragma once

#include <algorithm>
#include <cstddef>

namespace foldstep {

/// Elements [begin, end) of a flat layout.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  /// The `index`-th of `count` nearly equal parts; they meet at multiples of `grain`, so that neighbours
  /// share no cache line.
  Range part(std::size_t index, std::size_t count) const {
    constexpr std::size_t grain = 64;
    const std::size_t first = begin / grain;
    const std::size_t grains = (end + grain - 1) / grain - first;
    // Not grains * index / count: that product could pass 64 bits.
    const auto cut = [&](std::size_t i) {
      const std::size_t at = first + grains / count * i + grains % count * i / count;
      return std::clamp(at * grain, begin, end);
    };
    return {cut(index), index + 1 == count ? end : cut(index + 1)};
  }
  /// The `index`-th run of `length` elements from the beginning; empty beyond the end.
  Range chunk(std::size_t index, std::size_t length) const {
    if (index > size() / length) return {end, end};
    const std::size_t from = begin + index * length;
    return {from, from + std::min(length, end - from)};
  }
};

}  // namespace foldstep
