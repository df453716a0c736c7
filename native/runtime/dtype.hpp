#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/names.hpp"

namespace foldstep {

/// Element types. BF16 is held as its 16 bits.
enum class DType : std::uint8_t { F32 = 0, F64 = 1, BF16 = 2, I32 = 3, U8 = 4 };
template <>
struct Names<DType> {
  static constexpr std::array<std::string_view, 5> all{"float32", "float64", "bfloat16", "int32", "uint8"};
};

constexpr std::size_t size_of(DType type) {
  switch (type) {
    case DType::F64:
      return 8;
    case DType::F32:
    case DType::I32:
      return 4;
    case DType::BF16:
      return 2;
    case DType::U8:
      break;
  }
  return 1;
}

enum class ReduceOp : std::uint8_t { Sum = 0, Max = 1, Min = 2 };
template <>
struct Names<ReduceOp> {
  static constexpr std::array<std::string_view, 3> all{"sum", "max", "min"};
};

}  // namespace foldstep
