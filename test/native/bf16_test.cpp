// BF16 conversion of every pattern there is, in every instruction set.
#include <string>
#include <thread>

#include "check.hpp"
#include "support.hpp"

using namespace support;

namespace {

// A sanitizer makes this some eight times slower and looks for other faults than wrong values: there every
// 17th upper half is enough.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t stride = 17;
constexpr const char* extent = "FP32 patterns with every 17th upper half";
#else
constexpr std::uint32_t stride = 1;
constexpr const char* extent = "all 2^32 FP32 patterns";
#endif

/// All FP32 patterns whose upper half is in [begin, end), against the values that lie nearest.
bool narrows_rightly(const std::vector<const KernelTable*>& tables, std::uint32_t begin, std::uint32_t end,
                     std::string& failure) {
  constexpr std::size_t count = 65536;
  std::vector<std::uint32_t> patterns(count);
  std::vector<float> source(count);
  std::vector<std::uint16_t> expected(count);
  std::vector<std::uint16_t> target(count);
  for (std::uint32_t upper = begin; upper < end; upper += stride) {
    for (std::uint32_t lower = 0; lower < count; ++lower) {
      patterns[lower] = upper << 16 | lower;
      expected[lower] = nearest_bf16(patterns[lower]);
    }
    std::memcpy(source.data(), patterns.data(), count * sizeof(float));
    for (const KernelTable* table : tables) {
      table->f32_to_bf16(source.data(), target.data(), count);
      if (std::memcmp(target.data(), expected.data(), count * sizeof(std::uint16_t)) == 0) continue;
      failure = std::string(table->name) + ", upper half " + std::to_string(upper);
      return false;
    }
  }
  return true;
}

void check_all_patterns() {
  constexpr std::uint32_t uppers = 65536;
  constexpr std::uint32_t share = uppers / 2;
  std::string failures[2];
  std::thread other([&] { narrows_rightly(available_kernel_tables(), share, uppers, failures[1]); });
  narrows_rightly(available_kernel_tables(), 0, share, failures[0]);
  other.join();
  for (const std::string& failure : failures) {
    if (!failure.empty()) throw std::runtime_error(failure);
  }
}

void check_widening(const KernelTable& table) {
  std::vector<std::uint16_t> source(65536);
  for (std::uint32_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint16_t>(i);
  std::vector<float> target(source.size());
  table.bf16_to_f32(source.data(), target.data(), source.size());
  for (std::uint32_t i = 0; i < source.size(); ++i) CHECK(bits_of(target[i]) == i << 16);
}

void check_chosen_cases(const KernelTable& table) {
  const struct {
    std::uint32_t from;
    std::uint16_t to;
  } cases[] = {
      {0x7fffffff, 0x7fff},  // a NaN that a bias would carry into -0
      {0x7f800001, 0x7fc0},  // a NaN whose payload lies in the lower half alone
      {0xff800001, 0xffc0},  // its negative
      {0xffbfffff, 0xffff},  // a signalling one becomes quiet
      {0x7f800000, 0x7f80},  // infinity
      {0x7f7fffff, 0x7f80},  // the largest FP32 rounds to infinity
      {0x7f7f7fff, 0x7f7f},  // the largest that does not
      {0x80000000, 0x8000},  // -0
      {0x80000001, 0x8000},  // the smallest subnormal
      {0x00018000, 0x0002},  // a tie between subnormals goes to even
      {0x007fffff, 0x0080},  // the largest subnormal becomes normal
      {0x3f808000, 0x3f80},  // a tie goes down to even
      {0x3f818000, 0x3f82},  // and up to even
  };
  for (const auto& [from, to] : cases) {
    const float source = float_of(from);
    std::uint16_t target = 0;
    table.f32_to_bf16(&source, &target, 1);
    CHECK(target == to);
  }
}

}  // namespace

int main() {
  Tests test;
  for (const KernelTable* table : available_kernel_tables()) {
    const std::string name(table->name);
    test(name + ": chosen FP32 values round to the BF16 values that IEEE names",
         [&] { check_chosen_cases(*table); });
    test(name + ": all 2^16 BF16 patterns widen exactly", [&] { check_widening(*table); });
  }
  test(std::string("every instruction set: ") + extent + " round to the nearest BF16", check_all_patterns);
  return test.finish();
}
