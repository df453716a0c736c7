// Values that are known: of sums, of norms and their coefficients, and of the update rules against float64.
#include <cmath>
#include <limits>
#include <string>

#include "check.hpp"
#include "support.hpp"

using namespace support;

namespace {

bool close(double got, double want, double relative) {
  return std::abs(got - want) <= relative * std::abs(want);
}

/// One accumulator after `times` additions of scale * (the sum of the lanes).
float accumulated(const KernelTable& table, const std::vector<float>& lanes, float scale, Accumulation policy,
                  int times = 1) {
  std::vector<std::uint16_t> gradients;
  std::vector<const void*> sources;
  for (const float lane : lanes) gradients.push_back(bf16(lane));
  for (const std::uint16_t& gradient : gradients) sources.push_back(&gradient);
  float sum = 0;
  float* accumulator = &sum;
  for (int i = 0; i < times; ++i) {
    table.accumulate({.sources = sources.data(),
                      .source_count = sources.size(),
                      .accumulation = policy,
                      .scale = scale,
                      .accumulators = &accumulator,
                      .accumulator_count = 1,
                      .n = 1});
  }
  return sum;
}

void check_sums(const KernelTable& table) {
  constexpr auto fp32 = Accumulation::FP32;
  constexpr auto in_bf16 = Accumulation::BF16;
  CHECK(accumulated(table, {1}, 1, fp32, 512) == 512);
  CHECK(accumulated(table, {1}, 1, in_bf16, 512) == 256);
  CHECK(std::abs(accumulated(table, {0.001F}, 1, fp32, 1000) - 0.99945068) < 5e-9);
  CHECK(accumulated(table, {0.001F}, 1, in_bf16, 1000) == 0.5F);
  CHECK(accumulated(table, {1, 1.0078125F}, 0.5F, fp32) == 1.00390625F);
  const float small = 1.0F / 512;
  CHECK(accumulated(table, {1, small, small, small, small, small, small, small, small}, 1, fp32) ==
        1.015625F);
  // From the left: 2^24 takes no 1, and -2^24 then leaves the last 1. Another order would give 2.
  const float large = 16777216.0F;
  CHECK(accumulated(table, {large, 1, -large, 1}, 1, fp32) == 1);
}

struct Measured {
  std::vector<double> scalars;
  NormScalars at;
  double norm() const { return scalars[NormScalars::norm]; }
  double coefficient(std::uint32_t g) const { return scalars[at.coefficient(g)]; }
  bool skip() const { return scalars[at.skip()] == 1; }
};

/// The whole way: partials of each rank's elements, gathered, finished. `plans[r]` are the segments of rank
/// r.
Measured measure(const std::vector<std::vector<float>>& arenas, const std::vector<NormPlan>& plans,
                 const FinishNorm& request) {
  Device device;
  const std::size_t length = partials_length(request.groups);
  const Span scale = span_of(std::vector<double>{1});
  const auto gather = [&](NormKind kind) {
    const Span gathered = span_of(std::vector<double>(length * arenas.size()));
    for (std::size_t r = 0; r < arenas.size(); ++r) {
      device.kernels.norm_partials(device.stream, std::make_shared<NormPlan>(plans[r]), kind, request.p,
                                   span_of(arenas[r]), scale, {gathered.memory, r * length * sizeof(double)});
    }
    return gathered;
  };
  if (request.kind == NormKind::Power) {
    device.kernels.power_scale(device.stream, gather(NormKind::Infinity), request.groups,
                               static_cast<int>(arenas.size()), scale);
  }
  const NormScalars at{request.groups};
  const Span scalars = span_of(std::vector<double>(at.length()));
  device.kernels.finish_norm(device.stream, request, gather(request.kind), scale, scalars);
  device.synchronize();
  return {values_of<double>(scalars), at};
}

/// One rank, one segment, one group.
Measured measure(const std::vector<float>& elements, NormKind kind, double p = 2, double max_norm = 0) {
  NormPlan plan;
  plan.segments.push_back({.length = elements.size(), .counted = true});
  return measure({elements}, {plan}, {.kind = kind, .p = p, .max_norm = max_norm, .group_max_norms = {}});
}

void check_norms() {
  // FP32's 1e20 is 2e-8 above the real one.
  CHECK(close(measure({1e20F, 1e20F}, NormKind::Two).norm(), 1.41421356e20, 3e-8));
  CHECK(close(measure({1e-30F, 1e-30F}, NormKind::Two).norm(), 1.41421356e-30, 1e-7));
  CHECK(measure({3, -4, 0}, NormKind::One).norm() == 7);
  CHECK(measure({3, -4, 0}, NormKind::Two).norm() == 5);
  CHECK(measure({3, -4, 0}, NormKind::Infinity).norm() == 4);
  CHECK(close(measure({3, -4, 5}, NormKind::Power, 3).norm(), 6, 1e-15));
  CHECK(close(measure({3, -4}, NormKind::Power, 2.5).norm(),
              std::pow(std::pow(3, 2.5) + std::pow(4, 2.5), 1 / 2.5), 1e-15));
  CHECK(measure({}, NormKind::Two).norm() == 0);
  // Subnormal elements count.
  CHECK(measure({float_of(1)}, NormKind::Two).norm() == std::ldexp(1.0, -149));
}

void check_powers_of_extremes() {
  const double two = 2;
  for (const double p : {3.0, 10.0, 2.5, 1000.0}) {
    for (const float size : {3e38F, 1e20F, 1.0F, 1e-20F, 1e-38F, float_of(1)}) {
      const Measured measured = measure({size, -size}, NormKind::Power, p);
      CHECK(!measured.skip());
      CHECK(close(measured.norm(), static_cast<double>(size) * std::pow(two, 1 / p), 1e-14));
    }
  }
  CHECK(measure({0, 0}, NormKind::Power, 3).norm() == 0);
}

void check_coefficients() {
  CHECK(measure({0, 0}, NormKind::Two, 2, 1).coefficient(0) == 1);
  CHECK(measure({3, 4}, NormKind::Two, 2, 0).coefficient(0) == 1);
  CHECK(measure({3, 4}, NormKind::Two, 2, 10).coefficient(0) == 1);
  CHECK(measure({3, 4}, NormKind::Two, 2, 1).coefficient(0) == 1 / (5 + 1e-6));
}

void check_groups_and_ranks() {
  // Group 0 has 3 on rank 0, group 1 has 4 on rank 1 and 12 on rank 0. What rank 1 does not count is left
  // out.
  NormPlan first{.segments = {{.offset = 1, .length = 1, .group = 0, .parameter = 0, .counted = true},
                              {.offset = 2, .length = 1, .group = 1, .parameter = 1, .counted = true}},
                 .groups = 2};
  NormPlan second{.segments = {{.offset = 0, .length = 1, .group = 1, .parameter = 1, .counted = true},
                               {.offset = 1, .length = 1, .group = 0, .parameter = 0, .counted = false}},
                  .groups = 2};
  const Measured measured = measure({{100, 3, 12}, {4, 3}}, {first, second},
                                    {.groups = 2, .ranks = 2, .max_norm = 1, .group_max_norms = {1.5, 0}});
  CHECK(measured.norm() == 13);
  CHECK(measured.scalars[measured.at.group_norm(0)] == 3);
  CHECK(close(measured.scalars[measured.at.group_norm(1)], std::sqrt(160.0), 1e-15));
  CHECK(measured.coefficient(0) == 1.5 / (3 + 1e-6));
  CHECK(measured.coefficient(1) == 1 / (13 + 1e-6));
  CHECK(!measured.skip() && measured.scalars[measured.at.rank()] == 0);
}

void check_non_finite() {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    for (const NormKind kind : {NormKind::One, NormKind::Two, NormKind::Power, NormKind::Infinity}) {
      for (const bool counted : {false, true}) {
        const NormPlan clean{.segments = {{.length = 3, .parameter = 5, .counted = true}}};
        NormPlan dirty = clean;
        dirty.segments.push_back({.offset = 3, .length = 40000, .parameter = 9, .counted = counted});
        dirty.segments.push_back({.offset = 40003, .length = 3, .parameter = 7, .counted = counted});
        std::vector<float> elements(40006, 1.0F);
        elements[40002] = bad;
        elements[40005] = bad;
        const Measured measured =
            measure({{1, 2, 3}, elements}, {clean, dirty},
                    {.kind = kind, .p = 3, .ranks = 2, .max_norm = 1, .group_max_norms = {}});
        CHECK(measured.skip());
        CHECK(measured.scalars[measured.at.rank()] == 2);
        CHECK(measured.scalars[measured.at.parameter()] == 8);
        CHECK(measured.coefficient(0) == 0);
        if (counted) CHECK(std::isnan(bad) ? std::isnan(measured.norm()) : std::isinf(measured.norm()));
      }
    }
  }
  // A NaN is no lesser than the numbers around it, wherever it stands.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& elements : {std::vector{nan, 7.0F}, std::vector{7.0F, nan}}) {
    CHECK(std::isnan(measure(elements, NormKind::Infinity).norm()));
  }
}

/// The rules in float64.
struct Reference {
  double master, m, v;

  void step(const UpdateSettings& s, double coefficient, double accumulated) {
    double g = coefficient * accumulated;
    if (s.rule == Rule::SGD) {
      g += s.weight_decay * master;
      m = s.step == 1 ? g : s.momentum * m + g;
      master -= s.learning_rate * (s.nesterov ? g + s.momentum * m : m);
      return;
    }
    if (s.rule == Rule::Adam) g += s.weight_decay * master;
    if (s.rule == Rule::AdamW) master *= 1 - s.learning_rate * s.weight_decay;
    m = s.beta1 * m + (1 - s.beta1) * g;
    v = s.beta2 * v + (1 - s.beta2) * g * g;
    const auto t = static_cast<double>(s.step);
    const double m_hat = m / (1 - std::pow(s.beta1, t));
    const double v_hat = v / (1 - std::pow(s.beta2, t));
    master -= s.learning_rate * m_hat / (std::sqrt(v_hat) + s.epsilon);
  }
};

/// Twenty steps of 1000 elements by way of the plan, with a run that is only cleared.
void check_rule(UpdateSettings settings) {
  constexpr std::size_t n = 1000;
  const std::vector<float> start = mixed_values(n, 1, false);
  std::vector<Reference> reference;
  for (const float x : start) reference.push_back({x, 0, 0});

  Device device;
  UpdatePlan plan;
  plan.segments = {{.master = 0, .accumulator = 10, .weight = 1, .length = 400, .group = 0},
                   {.master = 400, .accumulator = 410, .weight = 401, .length = 600, .group = 1}};
  plan.clears = {{.offset = 0, .length = 10}};
  plan.groups = 2;
  const auto shared_plan = std::make_shared<UpdatePlan>(plan);
  const NormScalars at{2};
  std::vector<double> scalars(at.length());
  scalars[at.coefficient(0)] = 0.5;
  scalars[at.coefficient(1)] = 0.25;
  UpdateArenas arenas{.master = span_of(start),
                      .accumulator = span_of(std::vector<float>(n + 10)),
                      .weight = span_of(std::vector<std::uint16_t>(n + 1)),
                      .moment1 = span_of(std::vector<float>(n)),
                      .moment2 = span_of(std::vector<float>(n))};
  const bool stateless = settings.rule == Rule::SGD && settings.momentum == 0;
  if (stateless) arenas.moment1 = {};
  if (settings.rule == Rule::SGD) arenas.moment2 = {};

  for (settings.step = 1; settings.step <= 20; ++settings.step) {
    const std::vector<float> gradient =
        mixed_values(n + 10, static_cast<std::uint32_t>(settings.step) + 10, false);
    std::memcpy(arenas.accumulator.memory->data(), gradient.data(), gradient.size() * sizeof(float));
    for (std::size_t i = 0; i < n; ++i) reference[i].step(settings, i < 400 ? 0.5 : 0.25, gradient[i + 10]);
    device.kernels.update(device.stream, shared_plan, settings, arenas, span_of(scalars));
    device.synchronize();
  }

  const std::vector<float> master = values_of<float>(arenas.master);
  const std::vector<std::uint16_t> weight = values_of<std::uint16_t>(arenas.weight);
  CHECK(weight[0] == 0);
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(std::abs(master[i] - reference[i].master) <= 4e-6 * (1 + std::abs(reference[i].master)));
    CHECK(weight[i + 1] == bf16(master[i]));
    if (!stateless) {
      const float m = arenas.moment1.as<float>()[i];
      CHECK(std::abs(m - reference[i].m) <= 4e-6 * (1 + std::abs(reference[i].m)));
    }
  }
  for (const float left : values_of<float>(arenas.accumulator)) CHECK(bits_of(left) == 0);
}

void check_skipped_step() {
  Device device;
  const auto plan = std::make_shared<UpdatePlan>();
  plan->segments = {{.length = 3}};
  plan->clears = {{.offset = 3, .length = 2}};
  const NormScalars at{1};
  std::vector<double> scalars(at.length());
  scalars[at.skip()] = 1;
  const UpdateArenas arenas{.master = span_of(std::vector<float>{1, 2, 3}),
                            .accumulator = span_of(std::vector<float>{1, NAN, 3, 4, 5, 6}),
                            .weight = span_of(std::vector<std::uint16_t>{7, 8, 9}),
                            .moment1 = span_of(std::vector<float>{4, 5, 6}),
                            .moment2 = span_of(std::vector<float>{7, 8, 9})};
  device.kernels.update(device.stream, plan, {.rule = Rule::AdamW, .learning_rate = 1, .weight_decay = 1},
                        arenas, span_of(scalars));
  device.synchronize();
  CHECK(values_of<float>(arenas.master) == std::vector<float>({1, 2, 3}));
  CHECK(values_of<std::uint16_t>(arenas.weight) == std::vector<std::uint16_t>({7, 8, 9}));
  CHECK(values_of<float>(arenas.moment1) == std::vector<float>({4, 5, 6}));
  CHECK(values_of<float>(arenas.moment2) == std::vector<float>({7, 8, 9}));
  CHECK(values_of<float>(arenas.accumulator) == std::vector<float>({0, 0, 0, 0, 0, 6}));
}

}  // namespace

int main() {
  Tests test;
  for (const KernelTable* table : available_kernel_tables()) {
    test(std::string(table->name) + ": sums come out at their known values", [&] { check_sums(*table); });
  }
  test("norms of known vectors", check_norms);
  test("p = 2.5, 3, 10 and 1000 of huge and tiny elements", check_powers_of_extremes);
  test("clip coefficients, 1 for a norm of 0 or no limit", check_coefficients);
  test("groups over ranks: global norm, group norms, a group's own limit", check_groups_and_ranks);
  test("a non-finite element anywhere skips the step and names rank and parameter", check_non_finite);
  UpdateSettings sgd{.learning_rate = 0.1, .weight_decay = 0.01};
  test("SGD follows float64", [&] { check_rule(sgd); });
  sgd.momentum = 0.9;
  test("SGD with momentum follows float64", [&] { check_rule(sgd); });
  sgd.nesterov = true;
  test("SGD with Nesterov's momentum follows float64", [&] { check_rule(sgd); });
  UpdateSettings adam{.rule = Rule::Adam, .learning_rate = 0.01, .weight_decay = 0.1};
  adam.beta1 = 0.9;
  adam.beta2 = 0.95;
  adam.epsilon = 1e-8;
  test("Adam follows float64", [&] { check_rule(adam); });
  adam.rule = Rule::AdamW;
  test("AdamW follows float64", [&] { check_rule(adam); });
  test("a skipped step clears the accumulators and touches nothing else", check_skipped_step);
  return test.finish();
}
