// The kernels on a stream: the number of threads changes no bits, and what cannot be done is refused.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "runtime/error.hpp"
#include "runtime/kernel_checks.hpp"
#include "support.hpp"

using namespace support;

namespace {

struct Results {
  std::vector<std::uint16_t> narrow;
  std::vector<float> wide;
  std::vector<double> partials;
  std::vector<float> master, m, v;
  std::vector<std::uint16_t> weight;
  std::vector<std::byte> copied;
  bool operator==(const Results&) const = default;
};

Results results_with(int threads) {
  constexpr std::size_t n = 300007;
  const std::vector<float> elements = mixed_values(n, 5, false);
  const Span arena = span_of(elements);
  Device device(threads);
  Kernels& kernels = device.kernels;

  const Span narrow = span_of(std::vector<std::uint16_t>(n));
  const Span wide = span_of(std::vector<float>(n));
  kernels.cast(device.stream, arena, DType::F32, narrow, DType::BF16, n);
  kernels.cast(device.stream, narrow, DType::BF16, wide, DType::F32, n);

  const auto norm_plan = std::make_shared<NormPlan>();
  norm_plan->groups = 2;
  for (std::size_t at = 0, i = 0; at < n; ++i) {
    const std::size_t length = std::min(n - at, i * 9999 % 70000);
    norm_plan->segments.push_back(
        {.offset = at, .length = length, .group = static_cast<std::uint32_t>(i % 2), .counted = i % 5 != 0});
    at += length;
  }
  const Span partials = span_of(std::vector<double>(partials_length(2)));
  kernels.norm_partials(device.stream, norm_plan, NormKind::Two, 2, arena, {}, partials);

  const NormScalars at{1};
  std::vector<double> scalars(at.length());
  scalars[at.coefficient(0)] = 0.7;
  UpdateSettings adamw{.rule = Rule::AdamW, .learning_rate = 0.01, .weight_decay = 0.1};
  adamw.beta1 = 0.9;
  adamw.beta2 = 0.99;
  adamw.epsilon = 1e-8;
  const auto plan = std::make_shared<UpdatePlan>();
  for (std::size_t begin = 0; begin < n; begin += 1000) {
    const std::size_t length = std::min<std::size_t>(1000, n - begin);
    plan->segments.push_back({.master = begin, .accumulator = begin, .weight = begin, .length = length});
  }
  const UpdateArenas arenas{.master = span_of(mixed_values(n, 6, false)),
                            .accumulator = wide,
                            .weight = span_of(std::vector<std::uint16_t>(n)),
                            .moment1 = span_of(std::vector<float>(n)),
                            .moment2 = span_of(std::vector<float>(n))};
  kernels.update(device.stream, plan, adamw, arenas, span_of(scalars));

  const Span copied = span_of(std::vector<std::byte>(n * sizeof(float)));
  kernels.copy(device.stream, arenas.master, copied, n * sizeof(float));
  kernels.zero(device.stream, copied, n * 2);
  device.synchronize();
  return {values_of<std::uint16_t>(narrow),
          values_of<float>(wide),
          values_of<double>(partials),
          values_of<float>(arenas.master),
          values_of<float>(arenas.moment1),
          values_of<float>(arenas.moment2),
          values_of<std::uint16_t>(arenas.weight),
          values_of<std::byte>(copied)};
}

void check_same_bits() {
  const Results alone = results_with(1);
  CHECK(alone.partials[0] > 0 && alone.partials[1] > 0 && alone.partials[2] == 0);
  CHECK(alone.wide == std::vector<float>(alone.wide.size()));  // it was the cleared accumulator
  CHECK(alone.copied[0] == std::byte{0} &&
        std::memcmp(alone.copied.data() + alone.copied.size() - 4, &alone.master.back(), 4) == 0);
  CHECK(results_with(2) == alone);
  CHECK(results_with(3) == alone);
}

/// What `call` is refused with.
template <typename CallType>
Code refusal_of(CallType call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  throw std::runtime_error("it was not refused");
}

void check_refusals() {
  Device device;
  Kernels& kernels = device.kernels;
  CpuStream& stream = device.stream;
  const Span ten = span_of(std::vector<float>(10));
  const Span twenty = span_of(std::vector<std::uint16_t>(10));
  constexpr std::size_t too_many = ~std::size_t{0};
  CHECK(refusal_of([&] { kernels.cast(stream, ten, DType::F32, ten, DType::F32, 1); }) == Code::InvalidDtype);
  CHECK(refusal_of([&] { kernels.cast(stream, ten, DType::F32, twenty, DType::BF16, 11); }) ==
        Code::InvalidLength);
  CHECK(refusal_of([&] { kernels.cast(stream, {}, DType::F32, twenty, DType::BF16, 1); }) ==
        Code::InvalidLength);
  CHECK(refusal_of([&] { kernels.copy(stream, ten, twenty, 21); }) == Code::InvalidLength);
  CHECK(refusal_of([&] { kernels.zero(stream, {ten.memory, 4}, 37); }) == Code::InvalidLength);
  CHECK(refusal_of([&] { kernels.zero(stream, {ten.memory, 44}, too_many); }) == Code::InvalidLength);

  const auto norm = [&](NormSegment segment, NormKind kind, double p) {
    NormPlan plan;
    plan.segments = {segment};
    return refusal_of([&] { check_norm_partials(plan, kind, p, ten, ten, ten); });
  };
  CHECK(norm({.offset = 5, .length = 6}, NormKind::Two, 2) == Code::InvalidLength);
  CHECK(norm({.offset = too_many, .length = 6}, NormKind::Two, 2) == Code::InvalidLength);
  CHECK(norm({.length = 6, .group = 1}, NormKind::Two, 2) == Code::InvalidArgument);
  CHECK(norm({.length = 6}, NormKind::Power, 0.5) == Code::InvalidArgument);
  CHECK(norm({.length = 6}, NormKind::Power, 1001) == Code::InvalidArgument);

  const auto finish = [&](FinishNorm request) {
    return refusal_of([&] { check_finish_norm(request, ten, {}, ten); });
  };
  FinishNorm negative;
  negative.max_norm = -1;
  FinishNorm uneven;
  uneven.group_max_norms = {1, 2};
  FinishNorm many;
  many.ranks = 1000;
  CHECK(finish(negative) == Code::InvalidArgument);
  CHECK(finish(uneven) == Code::InvalidArgument);
  CHECK(finish(many) == Code::InvalidLength);

  const auto update = [&](UpdateSettings settings, UpdateSegment segment) {
    UpdatePlan plan;
    plan.segments = {segment};
    const UpdateArenas arenas{
        .master = ten, .accumulator = ten, .weight = twenty, .moment1 = {}, .moment2 = {}};
    return refusal_of([&] { check_update(plan, settings, arenas, ten); });
  };
  CHECK(update({.learning_rate = 1}, {.length = 11}) == Code::InvalidLength);
  CHECK(update({.learning_rate = 1}, {.length = 1, .group = 1}) == Code::InvalidArgument);
  CHECK(update({.learning_rate = 1, .nesterov = true}, {.length = 1}) == Code::InvalidArgument);
  CHECK(update({.learning_rate = NAN}, {.length = 1}) == Code::InvalidArgument);
  CHECK(update({.learning_rate = 1, .momentum = 0.9}, {.length = 1}) == Code::InvalidLength);
  CHECK(update({.rule = Rule::AdamW, .learning_rate = 1, .beta2 = 1}, {.length = 1}) ==
        Code::InvalidArgument);
  CHECK(update({.learning_rate = 1, .step = 0}, {.length = 1}) == Code::InvalidArgument);
  device.synchronize();
}

}  // namespace

int main() {
  Tests test;
  test("1, 2 and 3 threads give the same bits of casts, norms, updates and copies", check_same_bits);
  test("what does not fit is refused with its code before it is enqueued", check_refusals);
  return test.finish();
}
