#pragma once

#include <cmath>
#include <cstdint>

#include "numerics/bits.hpp"

/// The update rules of one element in FP32. Constants are prepared in FP64 and rounded once; square root and
/// division are IEEE's. `g` is the unscaled and clipped gradient.
namespace foldstep::numerics {

struct SgdConstants {
  float learning_rate;
  float weight_decay;
  float momentum;
  float kept;  ///< of the momentum buffer; none at step 1, where it becomes the gradient
  bool nesterov;
};

FOLDSTEP_HD SgdConstants sgd_constants(double learning_rate, double weight_decay, double momentum,
                                       bool nesterov, std::uint64_t step) {
  const auto rounded = static_cast<float>(momentum);
  return {static_cast<float>(learning_rate), static_cast<float>(weight_decay), rounded,
          step <= 1 ? 0.0F : rounded, nesterov};
}

FOLDSTEP_HD void sgd(const SgdConstants& c, float g, float& master) {
  g = g + c.weight_decay * master;
  master = with_one_nan(master - c.learning_rate * g);
}

FOLDSTEP_HD void sgd_with_momentum(const SgdConstants& c, float g, float& master, float& velocity) {
  g = g + c.weight_decay * master;
  velocity = with_one_nan(c.kept * velocity + g);
  const float direction = c.nesterov ? g + c.momentum * velocity : velocity;
  master = with_one_nan(master - c.learning_rate * direction);
}

struct AdamConstants {
  float learning_rate;
  float weight_decay;  ///< Adam
  float keep;          ///< AdamW: 1 - learning_rate * weight_decay
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float correction1, correction2;  ///< 1 / (1 - beta^step)
  float epsilon;
};

FOLDSTEP_HD AdamConstants adam_constants(double learning_rate, double weight_decay, double beta1,
                                         double beta2, double epsilon, std::uint64_t step) {
  const double t = static_cast<double>(step);
  return {static_cast<float>(learning_rate),
          static_cast<float>(weight_decay),
          static_cast<float>(1 - learning_rate * weight_decay),
          static_cast<float>(beta1),
          static_cast<float>(1 - beta1),
          static_cast<float>(beta2),
          static_cast<float>(1 - beta2),
          static_cast<float>(1 / (1 - pow(beta1, t))),
          static_cast<float>(1 / (1 - pow(beta2, t))),
          static_cast<float>(epsilon)};
}

FOLDSTEP_HD void adam_step(const AdamConstants& c, float g, float& master, float& m, float& v) {
  m = with_one_nan(c.beta1 * m + c.one_minus_beta1 * g);
  v = with_one_nan(c.beta2 * v + c.one_minus_beta2 * g * g);
  const float m_hat = m * c.correction1;
  const float v_hat = v * c.correction2;
  master = with_one_nan(master - c.learning_rate * (m_hat / (sqrtf(v_hat) + c.epsilon)));
}

FOLDSTEP_HD void adam(const AdamConstants& c, float g, float& master, float& m, float& v) {
  adam_step(c, g + c.weight_decay * master, master, m, v);
}

/// Adam with decoupled weight decay.
FOLDSTEP_HD void adamw(const AdamConstants& c, float g, float& master, float& m, float& v) {
  master = c.keep * master;
  adam_step(c, g, master, m, v);
}

}  // namespace foldstep::numerics
