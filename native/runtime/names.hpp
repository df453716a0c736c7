#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace foldstep {

/// The names of an enumeration's values, `all`, in its order: JavaScript and messages know them by these.
template <typename Enumeration>
struct Names;

template <typename Enumeration>
requires requires {
  Names<Enumeration>::all;
}
constexpr std::string_view name_of(Enumeration value) {
  constexpr const auto& all = Names<Enumeration>::all;
  const auto place = static_cast<std::size_t>(value);
  return place < all.size() ? all[place] : "unknown";
}

}  // namespace foldstep
