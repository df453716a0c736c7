#pragma once

#include "cpu/kernels/elements.hpp"

namespace foldstep::cpu {
namespace {

void bf16_to_f32(const std::uint16_t* source, float* target, std::size_t n) {
  const void* const from = source;
  void* const to = target;
  for (std::size_t i = 0; i < n; ++i) F32::store(to, i, Bf16::load(from, i));
}

void f32_to_bf16(const float* source, std::uint16_t* target, std::size_t n) {
  const void* const from = source;
  void* const to = target;
  for (std::size_t i = 0; i < n; ++i) Bf16::store(to, i, F32::load(from, i));
}

}  // namespace
}  // namespace foldstep::cpu
