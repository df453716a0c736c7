#pragma once

#include <cstddef>
#include <cstdint>

#include "numerics/bf16.hpp"

// The headers of the element loops (*_loops.hpp and this one) are compiled once per instruction set. All they
// define has internal linkage, so that no copy made for one instruction set can stand in for another's.
namespace foldstep::cpu {
namespace {

/// FP32 elements at any byte address, whatever they were stored as.
struct F32 {
  using Stored [[gnu::aligned(1), gnu::may_alias]] = float;
  [[gnu::always_inline]] static float load(const void* base, std::size_t i) {
    return static_cast<const Stored*>(base)[i];
  }
  [[gnu::always_inline]] static void store(void* base, std::size_t i, float x) {
    static_cast<Stored*>(base)[i] = x;
  }
};

/// BF16 elements, read exactly and rounded when stored.
struct Bf16 {
  using Stored [[gnu::aligned(1), gnu::may_alias]] = std::uint16_t;
  [[gnu::always_inline]] static float load(const void* base, std::size_t i) {
    return numerics::bf16_to_f32(static_cast<const Stored*>(base)[i]);
  }
  [[gnu::always_inline]] static void store(void* base, std::size_t i, float x) {
    static_cast<Stored*>(base)[i] = numerics::f32_to_bf16(x);
  }
};

}  // namespace
}  // namespace foldstep::cpu
