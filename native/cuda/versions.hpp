#pragma once

#include <string>

namespace foldstep::cuda {

/// The CUDA that the installed driver understands, such as "13.0", or "none".
std::string driver_version();
/// The CUDA that this library was built with.
std::string runtime_version();

}  // namespace foldstep::cuda
