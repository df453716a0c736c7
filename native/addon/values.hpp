#pragma once

#include <napi.h>

#include <cstdint>
#include <vector>

namespace foldstep::addon {

/// An array of numbers.
inline Napi::Array to_array(Napi::Env env, const std::vector<int>& values) {
  auto array = Napi::Array::New(env, values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) array.Set(i, values[i]);
  return array;
}

}  // namespace foldstep::addon
