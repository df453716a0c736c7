// n = 0..130 at every byte offset, between pages that fault when touched: every kernel in every instruction
// set.
#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "check.hpp"
#include "guarded.hpp"
#include "support.hpp"

using namespace support;

namespace {

constexpr std::size_t longest = 130;
constexpr std::size_t offsets = 64;

/// The arrays of one call: each has a guarded place of its own, and each lies at another offset than its
/// neighbour.
class Arrays {
 public:
  Arrays(std::size_t n, std::size_t offset, bool at_end) : n_(n), offset_(offset), at_end_(at_end) {
    used_ = 0;
  }

  template <typename T>
  T* operator()(const std::vector<T>& content) {
    Guarded& place = places()[used_];
    const std::size_t gap = (offset_ + 7 * used_++) % offsets;
    return reinterpret_cast<T*>(place.place(content.data(), n_ * sizeof(T), gap, at_end_));
  }

  /// Whether array `index` now holds `content`.
  template <typename T>
  static bool holds(std::size_t index, const std::vector<T>& content) {
    return places()[index].holds(content.data());
  }

  bool surroundings_untouched() const {
    return std::all_of(places().begin(), places().begin() + static_cast<std::ptrdiff_t>(used_),
                       [](const Guarded& place) { return place.surroundings_untouched(); });
  }

 private:
  static std::array<Guarded, 8>& places() {
    static std::array<Guarded, 8> made;
    return made;
  }

  std::size_t n_;
  std::size_t offset_;
  bool at_end_;
  std::size_t used_;
};

/// Calls check(n, arrays) for every length and offset, at both guards.
void everywhere(const std::function<void(std::size_t, Arrays&)>& check) {
  for (std::size_t n = 0; n <= longest; ++n) {
    for (std::size_t offset = 0; offset < offsets; ++offset) {
      for (const bool at_end : {false, true}) {
        Arrays arrays(n, offset, at_end);
        check(n, arrays);
        CHECK(arrays.surroundings_untouched());
      }
    }
  }
}

// What the calls are made on, and what they have to give: the portable loops' results on whole, aligned
// arrays.
struct Inputs {
  std::vector<float> a = mixed_values(longest, 1);
  std::vector<float> b = mixed_values(longest, 2);
  std::vector<float> c = mixed_values(longest, 3);
  std::vector<float> positive = mixed_values(longest, 4, false);
  std::vector<std::uint16_t> a16 = as_bf16(a);
  std::vector<std::uint16_t> b16 = as_bf16(b);
  std::vector<std::uint16_t> c16 = as_bf16(c);

  Inputs() {
    for (float& x : positive) x = std::abs(x);
  }
};

const Inputs inputs;
const KernelTable& portable = *available_kernel_tables().back();

void check_casts(const KernelTable& table) {
  std::vector<float> wide(longest);
  std::vector<std::uint16_t> narrow(longest);
  portable.bf16_to_f32(inputs.a16.data(), wide.data(), longest);
  portable.f32_to_bf16(inputs.a.data(), narrow.data(), longest);
  everywhere([&](std::size_t n, Arrays& arrays) {
    const std::uint16_t* const source = arrays(inputs.a16);
    table.bf16_to_f32(source, arrays(inputs.b), n);
    CHECK(Arrays::holds(1, wide) && Arrays::holds(0, inputs.a16));
  });
  everywhere([&](std::size_t n, Arrays& arrays) {
    const float* const source = arrays(inputs.a);
    table.f32_to_bf16(source, arrays(inputs.b16), n);
    CHECK(Arrays::holds(1, narrow) && Arrays::holds(0, inputs.a));
  });
}

/// Three sources, the first of which is the mirror, and two accumulators.
template <typename T>
void check_accumulate(const KernelTable& table, DType type, Accumulation accumulation,
                      const std::vector<T>& x, const std::vector<T>& y, const std::vector<T>& z) {
  const auto call = [&](const KernelTable& with, std::size_t n, T* first, const T* second, const T* third,
                        float* one, float* other) {
    const void* const sources[] = {first, second, third};
    float* const accumulators[] = {one, other};
    void* const mirrors[] = {first};
    with.accumulate({.sources = sources,
                     .source_count = 3,
                     .type = type,
                     .accumulation = accumulation,
                     .scale = 0.25F,
                     .accumulators = accumulators,
                     .accumulator_count = 2,
                     .mirrors = mirrors,
                     .mirror_count = 1,
                     .n = n});
  };
  std::vector<T> mirror = x;
  std::vector<float> sum = inputs.b;
  std::vector<float> copy = inputs.c;
  call(portable, longest, mirror.data(), y.data(), z.data(), sum.data(), copy.data());
  everywhere([&](std::size_t n, Arrays& arrays) {
    T* const first = arrays(x);
    const T* const second = arrays(y);
    const T* const third = arrays(z);
    float* const one = arrays(inputs.b);
    call(table, n, first, second, third, one, arrays(inputs.c));
    CHECK(Arrays::holds(0, mirror) && Arrays::holds(1, y) && Arrays::holds(2, z));
    CHECK(Arrays::holds(3, sum) && Arrays::holds(4, sum));
  });
}

/// Two sources into one accumulator: the way without a buffer.
void check_fused_accumulate(const KernelTable& table) {
  const auto call = [](const KernelTable& with, std::size_t n, const std::uint16_t* x, const std::uint16_t* y,
                       float* accumulator) {
    const void* const sources[] = {x, y};
    with.accumulate({.sources = sources,
                     .source_count = 2,
                     .scale = 0.5F,
                     .accumulators = &accumulator,
                     .accumulator_count = 1,
                     .n = n});
  };
  std::vector<float> sum = inputs.c;
  call(portable, longest, inputs.a16.data(), inputs.b16.data(), sum.data());
  everywhere([&](std::size_t n, Arrays& arrays) {
    const std::uint16_t* const x = arrays(inputs.a16);
    const std::uint16_t* const y = arrays(inputs.b16);
    call(table, n, x, y, arrays(inputs.c));
    CHECK(Arrays::holds(2, sum) && Arrays::holds(0, inputs.a16) && Arrays::holds(1, inputs.b16));
  });
}

/// Two sources that are the two targets.
template <typename T>
void check_reduce(const KernelTable& table, DType type, const std::vector<T>& x, const std::vector<T>& y) {
  const auto call = [&](const KernelTable& with, std::size_t n, T* first, T* second) {
    void* const targets[] = {first, second};
    with.reduce({.sources = targets,
                 .source_count = 2,
                 .type = type,
                 .scale = 0.5F,
                 .targets = targets,
                 .target_count = 2,
                 .n = n});
  };
  std::vector<T> mean = x;
  std::vector<T> same = y;
  call(portable, longest, mean.data(), same.data());
  everywhere([&](std::size_t n, Arrays& arrays) {
    T* const first = arrays(x);
    call(table, n, first, arrays(y));
    CHECK(Arrays::holds(0, mean) && Arrays::holds(1, mean));
  });
}

void check_norms(const KernelTable& table) {
  const struct {
    NormKind kind;
    double p;
  } norms[] = {{NormKind::One, 1},
               {NormKind::Two, 2},
               {NormKind::Power, 3},
               {NormKind::Power, 2.5},
               {NormKind::Infinity, 0}};
  std::vector<float> infinite = inputs.positive;
  for (const auto& [kind, p] : norms) {
    everywhere([&, kind = kind, p = p](std::size_t n, Arrays& arrays) {
      const NormBlock want = portable.norm_block(inputs.positive.data(), n, kind, p, 0.5);
      const NormBlock got = table.norm_block(arrays(inputs.positive), n, kind, p, 0.5);
      CHECK(got.value == want.value && got.finite);
      if (n == 0) return;
      infinite[n - 1] = float_of(0xff800000);
      CHECK(!table.norm_block(arrays(infinite), n, kind, p, 0.5).finite);
      infinite[n - 1] = inputs.positive[n - 1];
    });
  }
}

void check_update(const KernelTable& table, const UpdateSettings& settings) {
  std::vector<float> master = inputs.a;
  std::vector<float> accumulator = inputs.b;
  std::vector<std::uint16_t> weight = inputs.c16;
  std::vector<float> m = inputs.c;
  std::vector<float> v = inputs.positive;
  portable.update({.master = master.data(),
                   .accumulator = accumulator.data(),
                   .weight = weight.data(),
                   .moment1 = m.data(),
                   .moment2 = v.data(),
                   .n = longest,
                   .coefficient = 0.75},
                  settings);
  everywhere([&](std::size_t n, Arrays& arrays) {
    UpdateSlice slice{.n = n, .coefficient = 0.75};
    slice.master = arrays(inputs.a);
    slice.accumulator = arrays(inputs.b);
    slice.weight = arrays(inputs.c16);
    slice.moment1 = arrays(inputs.c);
    slice.moment2 = arrays(inputs.positive);
    table.update(slice, settings);
    CHECK(Arrays::holds(0, master) && Arrays::holds(1, std::vector<float>(longest)));
    CHECK(Arrays::holds(2, weight) && Arrays::holds(3, m) && Arrays::holds(4, v));
  });
}

}  // namespace

int main() {
  Tests test;
  for (const KernelTable* candidate : available_kernel_tables()) {
    const KernelTable& table = *candidate;
    const std::string name = std::string(table.name) + ", n = 0..130 at every byte offset: ";
    test(name + "casts", [&] { check_casts(table); });
    test(name + "two BF16 sources into one accumulator", [&] { check_fused_accumulate(table); });
    for (const Accumulation policy : {Accumulation::FP32, Accumulation::BF16}) {
      const std::string into = policy == Accumulation::FP32 ? " accumulated in FP32" : " accumulated in BF16";
      test(name + "BF16 sources with a mirror," + into,
           [&] { check_accumulate(table, DType::BF16, policy, inputs.a16, inputs.b16, inputs.c16); });
      test(name + "FP32 sources with a mirror," + into,
           [&] { check_accumulate(table, DType::F32, policy, inputs.a, inputs.b, inputs.c); });
    }
    test(name + "BF16 reduction in place", [&] { check_reduce(table, DType::BF16, inputs.a16, inputs.b16); });
    test(name + "FP32 reduction in place", [&] { check_reduce(table, DType::F32, inputs.a, inputs.b); });
    test(name + "norms", [&] { check_norms(table); });
    const UpdateSettings sgd{.learning_rate = 0.1, .weight_decay = 0.01};
    const UpdateSettings momentum{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true, .step = 2};
    UpdateSettings adam{.rule = Rule::Adam, .learning_rate = 0.1, .weight_decay = 0.01};
    adam.beta1 = 0.9;
    adam.beta2 = 0.99;
    adam.epsilon = 1e-8;
    UpdateSettings adamw = adam;
    adamw.rule = Rule::AdamW;
    test(name + "SGD", [&] { check_update(table, sgd); });
    test(name + "SGD with Nesterov's momentum", [&] { check_update(table, momentum); });
    test(name + "Adam", [&] { check_update(table, adam); });
    test(name + "AdamW", [&] { check_update(table, adamw); });
  }
  return test.finish();
}
