// Every instruction set gives the same bits, whatever the caller's floating-point modes are.
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cstdlib>
#include <functional>
#include <string>

#include "check.hpp"
#include "runtime/error.hpp"
#include "support.hpp"

using namespace support;

namespace {

constexpr std::size_t n = 5003;  // several chunks and a tail

/// Everything a call has written, to be compared as bytes.
using Written = std::vector<std::byte>;
using Call = std::function<Written(const KernelTable&)>;

template <typename T>
void append(Written& written, const std::vector<T>& values) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
  written.insert(written.end(), bytes, bytes + values.size() * sizeof(T));
}

template <typename T>
std::vector<T> gradients(std::uint32_t seed);
template <>
std::vector<float> gradients(std::uint32_t seed) {
  return mixed_values(n, seed);
}
template <>
std::vector<std::uint16_t> gradients(std::uint32_t seed) {
  return as_bf16(mixed_values(n, seed));
}

/// The sum in the order of the sources, one element at a time.
template <typename T>
Call accumulate_call(DType type, Accumulation accumulation, std::size_t sources, std::size_t accumulators,
                     std::size_t mirrors) {
  return [=](const KernelTable& table) {
    std::vector<std::vector<T>> x(sources);
    std::vector<std::vector<float>> sums(accumulators, mixed_values(n, 99));
    std::vector<const void*> source_pointers;
    std::vector<float*> sum_pointers;
    std::vector<void*> mirror_pointers;
    for (std::size_t r = 0; r < sources; ++r) {
      x[r] = gradients<T>(static_cast<std::uint32_t>(r));
      source_pointers.push_back(x[r].data());
      if (r < mirrors) mirror_pointers.push_back(x[r].data());
    }
    for (auto& sum : sums) sum_pointers.push_back(sum.data());
    table.accumulate({.sources = source_pointers.data(),
                      .source_count = sources,
                      .type = type,
                      .accumulation = accumulation,
                      .scale = 1.0F / static_cast<float>(sources),
                      .accumulators = sum_pointers.data(),
                      .accumulator_count = accumulators,
                      .mirrors = mirror_pointers.data(),
                      .mirror_count = mirrors,
                      .n = n});
    Written written;
    for (const auto& values : x) append(written, values);
    for (const auto& values : sums) append(written, values);
    return written;
  };
}

template <typename T>
Call reduce_call(DType type, std::size_t sources) {
  return [=](const KernelTable& table) {
    std::vector<std::vector<T>> x(sources);
    std::vector<void*> pointers;
    for (std::size_t r = 0; r < sources; ++r) {
      x[r] = gradients<T>(static_cast<std::uint32_t>(r));
      pointers.push_back(x[r].data());
    }
    table.reduce({.sources = pointers.data(),
                  .source_count = sources,
                  .type = type,
                  .scale = 0.3F,
                  .targets = pointers.data(),
                  .target_count = sources,
                  .n = n});
    Written written;
    for (const auto& values : x) append(written, values);
    return written;
  };
}

Call norm_call(NormKind kind, double p) {
  return [=](const KernelTable& table) {
    std::vector<double> values;
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      std::vector<float> x = mixed_values(n, seed, false);
      x[seed] = float_of(seed);  // a subnormal
      values.push_back(table.norm_block(x.data(), n - seed, kind, p, 0.125).value);
    }
    const std::vector<float> specials = mixed_values(n, 7);
    values.push_back(table.norm_block(specials.data(), n, kind, p, 0.125).finite ? 1 : 0);
    Written written;
    append(written, values);
    return written;
  };
}

Call update_call(UpdateSettings settings, double coefficient) {
  return [=](const KernelTable& table) {
    std::vector<float> master = mixed_values(n, 1);
    std::vector<float> accumulator = mixed_values(n, 2);
    std::vector<std::uint16_t> weight(n);
    std::vector<float> m = mixed_values(n, 3);
    std::vector<float> v = mixed_values(n, 4);
    table.update({.master = master.data(),
                  .accumulator = accumulator.data(),
                  .weight = weight.data(),
                  .moment1 = m.data(),
                  .moment2 = v.data(),
                  .n = n,
                  .coefficient = coefficient},
                 settings);
    Written written;
    for (const auto* values : {&master, &accumulator, &m, &v}) append(written, *values);
    append(written, weight);
    return written;
  };
}

std::vector<std::pair<std::string, Call>> all_calls() {
  std::vector<std::pair<std::string, Call>> calls;
  for (const std::size_t sources : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31}) {
    const std::string name = "of " + std::to_string(sources) + " sources";
    const std::size_t mirrors = sources % 2 == 0 ? sources : 0;
    const std::size_t accumulators = sources % 3 + 1;
    for (const Accumulation policy : {Accumulation::FP32, Accumulation::BF16}) {
      const std::string into = policy == Accumulation::FP32 ? " in FP32" : " in BF16";
      calls.emplace_back("BF16 accumulation " + name + into,
                         accumulate_call<std::uint16_t>(DType::BF16, policy, sources, accumulators, mirrors));
      calls.emplace_back("FP32 accumulation " + name + into,
                         accumulate_call<float>(DType::F32, policy, sources, accumulators, mirrors));
    }
    calls.emplace_back("BF16 reduction " + name, reduce_call<std::uint16_t>(DType::BF16, sources));
    calls.emplace_back("FP32 reduction " + name, reduce_call<float>(DType::F32, sources));
  }
  calls.emplace_back("norm 1", norm_call(NormKind::One, 1));
  calls.emplace_back("norm 2", norm_call(NormKind::Two, 2));
  calls.emplace_back("norm 3", norm_call(NormKind::Power, 3));
  calls.emplace_back("norm 2.5", norm_call(NormKind::Power, 2.5));
  calls.emplace_back("norm infinity", norm_call(NormKind::Infinity, 0));

  UpdateSettings sgd{.learning_rate = 0.1, .weight_decay = 0.01};
  calls.emplace_back("SGD", update_call(sgd, 1e-3));
  sgd.momentum = 0.9;
  calls.emplace_back("SGD with momentum, step 1", update_call(sgd, 1));
  sgd.step = 2;
  sgd.nesterov = true;
  calls.emplace_back("SGD with Nesterov's momentum, step 2", update_call(sgd, 1e-30));
  UpdateSettings adam{.rule = Rule::Adam, .learning_rate = 1e-3, .weight_decay = 0.1};
  adam.beta1 = 0.9;
  adam.beta2 = 0.999;
  adam.epsilon = 1e-8;
  adam.step = 3;
  calls.emplace_back("Adam", update_call(adam, 0.5));
  adam.rule = Rule::AdamW;
  calls.emplace_back("AdamW", update_call(adam, 0.5));
  return calls;
}

void check_same(const Call& call) {
  const Written want = call(*available_kernel_tables().back());
  for (const KernelTable* table : available_kernel_tables()) {
    if (call(*table) != want) throw std::runtime_error(std::string(table->name) + " differs from portable");
  }
}

#if defined(__x86_64__)
bool modes_restored = true;

/// Flushes subnormals to zero and rounds up, and sees whether it still does at the end.
class OddModes {
 public:
  OddModes() : before_(_mm_getcsr()) { _mm_setcsr((before_ & ~flags) | odd); }
  ~OddModes() {
    modes_restored = modes_restored && (_mm_getcsr() & ~flags) == ((before_ & ~flags) | odd);
    _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned flags = 0x003f;
  static constexpr unsigned odd = 0x8040 | _MM_ROUND_UP;
  unsigned before_;
};

const KernelTable* under_test = nullptr;

/// Calls `under_test` in odd modes.
const KernelTable in_odd_modes{
    .name = "in odd modes",
    .bf16_to_f32 = nullptr,
    .f32_to_bf16 = nullptr,
    .accumulate =
        [](const AccumulateSlice& slice) {
          const OddModes modes;
          under_test->accumulate(slice);
        },
    .reduce =
        [](const ReduceSlice& slice) {
          const OddModes modes;
          under_test->reduce(slice);
        },
    .norm_block =
        [](const float* source, std::size_t count, NormKind kind, double p, double power_scale) {
          const OddModes modes;
          return under_test->norm_block(source, count, kind, p, power_scale);
        },
    .update =
        [](const UpdateSlice& slice, const UpdateSettings& settings) {
          const OddModes modes;
          under_test->update(slice, settings);
        },
};

void check_modes(const Call& call, const KernelTable& table) {
  under_test = &table;
  CHECK(call(in_odd_modes) == call(table));
  CHECK(modes_restored);
}
#endif

void check_choice() {
  const auto choose = [](const char* name) {
    setenv("FOLDSTEP_INSTRUCTION_SET", name, 1);
    return kernel_table().name;
  };
  std::string refusal;
  try {
    choose("mmx");
  } catch (const Error& error) {
    CHECK(error.code() == Code::InvalidArgument);
    refusal = error.what();
  }
  CHECK(refusal.find("\"mmx\"") != std::string::npos && refusal.find("portable") != std::string::npos);
  CHECK(choose("portable") == "portable");
}

}  // namespace

int main() {
  Tests test;
  test("the environment chooses the instruction set, or is told what there is", check_choice);
  for (const auto& [name, call] : all_calls()) {
    test(name + ": the same bits in every instruction set", [&, call = call] { check_same(call); });
  }
#if defined(__x86_64__)
  for (const auto& [name, call] : all_calls()) {
    test(name + ": the caller's rounding and flushing make no difference and are restored", [&, call = call] {
      for (const KernelTable* table : available_kernel_tables()) check_modes(call, *table);
    });
  }
#endif
  return test.finish();
}
