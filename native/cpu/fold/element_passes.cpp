#include "cpu/fold/element_passes.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cpu/kernels/fp_mode.hpp"

namespace foldstep::cpu {

namespace {

/// Fewer elements are not worth another thread.
constexpr std::size_t grain = 16384;

template <typename Pointer>
std::vector<Pointer> advanced(const Pointer* pointers, std::size_t count, std::size_t bytes) {
  using Byte =
      std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const std::byte, std::byte>;
  std::vector<Pointer> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = reinterpret_cast<Pointer>(reinterpret_cast<Byte*>(pointers[i]) + bytes);
  }
  return result;
}

template <typename Body>
void for_each_part(Context& context, std::size_t n, const Body& body) {
  context.threads.parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
    const FpMode mode;
    body(begin, end);
  });
}

}  // namespace

void run(Context& context, const AccumulateSlice& slice) {
  for_each_part(context, slice.n, [&](std::size_t begin, std::size_t end) {
    const std::size_t bytes = begin * size_of(slice.type);
    const auto sources = advanced(slice.sources, slice.source_count, bytes);
    const auto mirrors = advanced(slice.mirrors, slice.mirror_count, bytes);
    const auto accumulators = advanced(slice.accumulators, slice.accumulator_count, begin * sizeof(float));
    AccumulateSlice part = slice;
    part.sources = sources.data();
    part.mirrors = mirrors.data();
    part.accumulators = accumulators.data();
    part.n = end - begin;
    kernel_table().accumulate(part);
  });
}

void run(Context& context, const ReduceSlice& slice) {
  for_each_part(context, slice.n, [&](std::size_t begin, std::size_t end) {
    const std::size_t bytes = begin * size_of(slice.type);
    const auto sources = advanced(slice.sources, slice.source_count, bytes);
    const auto targets = advanced(slice.targets, slice.target_count, bytes);
    ReduceSlice part = slice;
    part.sources = sources.data();
    part.targets = targets.data();
    part.n = end - begin;
    kernel_table().reduce(part);
  });
}

void run_copy(Context& context, const void* source, void* target, std::size_t bytes) {
  context.threads.parallel_for(bytes, grain * sizeof(float), [&](std::size_t begin, std::size_t end) {
    std::memcpy(static_cast<std::byte*>(target) + begin, static_cast<const std::byte*>(source) + begin,
                end - begin);
  });
}

void run_cast(Context& context, const std::uint16_t* source, float* target, std::size_t n) {
  for_each_part(context, n, [&](std::size_t begin, std::size_t end) {
    kernel_table().bf16_to_f32(source + begin, target + begin, end - begin);
  });
}

void run_cast(Context& context, const float* source, std::uint16_t* target, std::size_t n) {
  for_each_part(context, n, [&](std::size_t begin, std::size_t end) {
    kernel_table().f32_to_bf16(source + begin, target + begin, end - begin);
  });
}

}  // namespace foldstep::cpu
