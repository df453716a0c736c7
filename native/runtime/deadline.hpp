#pragma once

#include <chrono>

namespace foldstep {

/// A hundred years. A deadline that is no longer than this fits 64 bits in every unit, and so does a point in
/// time beyond it.
constexpr std::chrono::milliseconds longest_deadline = std::chrono::hours(876'600);

}  // namespace foldstep
