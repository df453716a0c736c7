#pragma once

#include <cstdint>

namespace foldstep::tsan {

/// What is made wrong on purpose, to see that it is found.
enum class Fault : std::uint8_t { None, RelaxedRelease, RelaxedAcquire, NoExit };

/// Set before anything runs.
inline Fault fault = Fault::None;

}  // namespace foldstep::tsan
