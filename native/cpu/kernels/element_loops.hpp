#pragma once

#include "cpu/kernels/cast_loops.hpp"
#include "cpu/kernels/fold_loops.hpp"
#include "cpu/kernels/fp_mode.hpp"
#include "cpu/kernels/norm_loops.hpp"
#include "cpu/kernels/update_loops.hpp"

namespace foldstep::cpu {
namespace {

/// `Loops` in the default floating-point modes, whatever those of the calling thread are.
template <auto Loops>
struct InDefaultMode;

template <typename Result, typename... Arguments, Result (*Loops)(Arguments...)>
struct InDefaultMode<Loops> {
  static Result call(Arguments... arguments) {
    const FpMode mode;
    return Loops(arguments...);
  }
};

constexpr KernelTable table_of(std::string_view name) {
  return {name,
          bf16_to_f32,
          f32_to_bf16,
          InDefaultMode<accumulate>::call,
          InDefaultMode<reduce>::call,
          InDefaultMode<norm_block>::call,
          InDefaultMode<update>::call};
}

}  // namespace
}  // namespace foldstep::cpu
