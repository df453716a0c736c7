#pragma once

#include "cpu/kernels/elements.hpp"
#include "cpu/kernels/kernel_table.hpp"
#include "numerics/update.hpp"

namespace foldstep::cpu {
namespace {

/// The fused pass: rule(g, master, m, v) on every element, the weight rounded from the master, the
/// accumulator cleared. `Moments` says how many of the moment arenas the rule has: those it lacks may be
/// null.
template <int Moments, typename Rule>
void update_elements(const UpdateSlice& slice, Rule rule) {
  void* const master_at = slice.master;
  void* const accumulator_at = slice.accumulator;
  void* const weight_at = slice.weight;
  void* const m_at = slice.moment1;
  void* const v_at = slice.moment2;
  const auto coefficient = static_cast<float>(slice.coefficient);
  const std::size_t n = slice.n;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const float g = coefficient * F32::load(accumulator_at, i);
    float master = F32::load(master_at, i);
    float m = Moments > 0 ? F32::load(m_at, i) : 0;
    float v = Moments > 1 ? F32::load(v_at, i) : 0;
    rule(g, master, m, v);
    if (Moments > 0) F32::store(m_at, i, m);
    if (Moments > 1) F32::store(v_at, i, v);
    F32::store(master_at, i, master);
    Bf16::store(weight_at, i, master);
    F32::store(accumulator_at, i, 0);
  }
}

void update_sgd(const UpdateSlice& slice, const UpdateSettings& s) {
  const numerics::SgdConstants c =
      numerics::sgd_constants(s.learning_rate, s.weight_decay, s.momentum, s.nesterov, s.step);
  if (s.momentum == 0) {
    update_elements<0>(slice, [c](float g, float& master, float&, float&) { numerics::sgd(c, g, master); });
  } else {
    update_elements<1>(slice, [c](float g, float& master, float& velocity, float&) {
      numerics::sgd_with_momentum(c, g, master, velocity);
    });
  }
}

void update_adam(const UpdateSlice& slice, const UpdateSettings& s) {
  const numerics::AdamConstants c =
      numerics::adam_constants(s.learning_rate, s.weight_decay, s.beta1, s.beta2, s.epsilon, s.step);
  if (s.rule == Rule::Adam) {
    update_elements<2>(
        slice, [c](float g, float& master, float& m, float& v) { numerics::adam(c, g, master, m, v); });
  } else {
    update_elements<2>(
        slice, [c](float g, float& master, float& m, float& v) { numerics::adamw(c, g, master, m, v); });
  }
}

[[gnu::noinline]] void update(const UpdateSlice& slice, const UpdateSettings& settings) {
  return settings.rule == Rule::SGD ? update_sgd(slice, settings) : update_adam(slice, settings);
}

}  // namespace
}  // namespace foldstep::cpu
