#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace foldstep {

/// Element types. BF16 is held as its 16 bits.
enum class DType : std::uint8_t { F32 = 0, F64 = 1, BF16 = 2, I32 = 3, U8 = 4 };

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

constexpr std::string_view name_of(DType type) {
  switch (type) {
    case DType::F32:
      return "float32";
    case DType::F64:
      return "float64";
    case DType::BF16:
      return "bfloat16";
    case DType::I32:
      return "int32";
    case DType::U8:
      break;
  }
  return "uint8";
}

enum class ReduceOp : std::uint8_t { Sum = 0, Max = 1, Min = 2 };

}  // namespace foldstep
