#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <random>
#include <vector>

#include "cpu/context.hpp"
#include "cpu/cpu_kernels.hpp"
#include "cpu/stream.hpp"

namespace support {

using namespace foldstep;
using namespace foldstep::cpu;

class HeapMemory final : public Memory {
 public:
  explicit HeapMemory(std::size_t bytes) : words_((bytes + 7) / 8), bytes_(bytes) {}
  std::byte* data() const override { return reinterpret_cast<std::byte*>(words_.data()); }
  std::size_t bytes() const override { return bytes_; }

 private:
  mutable std::vector<std::uint64_t> words_;
  std::size_t bytes_;
};

template <typename T>
Span span_of(const std::vector<T>& values) {
  const auto memory = std::make_shared<HeapMemory>(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(memory->data(), values.data(), values.size() * sizeof(T));
  return {memory, 0};
}

template <typename T>
std::vector<T> values_of(const Span& span) {
  std::vector<T> values((span.memory->bytes() - span.offset) / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), span.as<T>(), values.size() * sizeof(T));
  return values;
}

/// Kernels with a context and a stream of their own.
struct Device {
  explicit Device(int threads = 1, const KernelTable& table = kernel_table())
      : context(std::make_shared<Context>(std::chrono::seconds(10), false, threads)),
        kernels(context, table) {}

  /// Waits for the stream; throws what an operation has thrown.
  void synchronize() {
    std::promise<void> done;
    stream.notify([&](std::exception_ptr error) {
      if (error) {
        done.set_exception(error);
      } else {
        done.set_value();
      }
    });
    done.get_future().get();
  }

  std::shared_ptr<Context> context;
  CpuKernels kernels;
  CpuStream stream;
};

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// BF16 by where the lower half lies between its neighbours: another way than the kernels' rounding by a
/// bias.
inline std::uint16_t nearest_bf16(std::uint32_t bits) {
  const std::uint32_t upper = bits >> 16;
  const std::uint32_t lower = bits & 0xffff;
  const bool nan = (bits & 0x7f800000) == 0x7f800000 && (bits & 0x007fffff) != 0;
  if (nan) return static_cast<std::uint16_t>(upper | 0x0040);
  const bool up = lower > 0x8000 || (lower == 0x8000 && upper % 2 == 1);
  return static_cast<std::uint16_t>(up ? upper + 1 : upper);
}

inline std::uint16_t bf16(float x) {
  return nearest_bf16(bits_of(x));
}

inline float f32(std::uint16_t x) {
  return float_of(static_cast<std::uint32_t>(x) << 16);
}

/// Gradients of a usual size, mixed with every special value.
inline std::vector<float> mixed_values(std::size_t n, std::uint32_t seed, bool specials = true) {
  static const std::uint32_t special[] = {
      0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xffbfffff,
      0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f808000,
      0x3f818000, 0x3f80ffff, 0x00008000, 0x00018000, 0x80007fff, 0x7f7f8000, 0xff7f7fff, 0x7fffffff};
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& value : values) {
    const std::uint32_t draw = random();
    const bool is_special = specials && draw % 4 == 0;
    value = is_special
                ? float_of(special[draw / 4 % std::size(special)])
                : (static_cast<float>(draw >> 8) / 8388608.0F - 1.0F) * (draw % 3 == 0 ? 1e-3F : 10.0F);
  }
  return values;
}

inline std::vector<std::uint16_t> as_bf16(const std::vector<float>& values) {
  std::vector<std::uint16_t> result(values.size());
  // A truncation, so that every special pattern has its counterpart.
  for (std::size_t i = 0; i < values.size(); ++i)
    result[i] = static_cast<std::uint16_t>(bits_of(values[i]) >> 16);
  return result;
}

}  // namespace support
