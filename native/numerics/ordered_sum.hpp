#pragma once

#include "numerics/bf16.hpp"

/// The correction of a gradient over members: s = x_0, s = s + x_1, ... in rank order, every step rounded to
/// FP32. Multiply and add stay two operations, so that an instruction set without a fused one gives the same
/// bits.
namespace foldstep::numerics {

FOLDSTEP_HD float add_member(float sum, float x) {
  return sum + x;
}

/// The corrected gradient as it is added to an accumulator.
FOLDSTEP_HD float corrected(float sum, float scale) {
  return scale * sum;
}

/// The corrected gradient as it is stored.
FOLDSTEP_HD float stored_corrected(float sum, float scale) {
  return with_one_nan(corrected(sum, scale));
}

FOLDSTEP_HD float accumulate_f32(float accumulator, float gradient) {
  return with_one_nan(accumulator + gradient);
}

/// Both the gradient and the new accumulator are rounded to BF16; the accumulator is held as FP32.
FOLDSTEP_HD float accumulate_bf16(float accumulator, float gradient) {
  return round_to_bf16(with_one_nan(accumulator + round_to_bf16(gradient)));
}

}  // namespace foldstep::numerics
