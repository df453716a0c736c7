#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/dtype.hpp"
#include "runtime/fold.hpp"
#include "runtime/kernels.hpp"

namespace foldstep::cpu {

/// acc = acc + scale * (x_0 + x_1 + ...), element by element, n elements from the given pointers.
struct AccumulateSlice {
  const void* const* sources = nullptr;  ///< at least one, in the team's order; may alias `mirrors`
  std::size_t source_count = 0;
  DType type = DType::BF16;  ///< of sources and mirrors: BF16 or F32
  Accumulation accumulation = Accumulation::FP32;
  float scale = 1.0F;
  float* const* accumulators = nullptr;  ///< at least one: read from the first, the new value stored to all
  std::size_t accumulator_count = 0;
  void* const* mirrors = nullptr;  ///< scale * sum, rounded to `type`, stored to all
  std::size_t mirror_count = 0;
  std::size_t n = 0;
};

/// y = scale * (x_0 + x_1 + ...), stored to every target. At least one source. Each target may be one of the
/// sources.
struct ReduceSlice {
  const void* const* sources = nullptr;
  std::size_t source_count = 0;
  DType type = DType::F32;  ///< F32 or BF16, of sources and targets
  float scale = 1.0F;
  void* const* targets = nullptr;
  std::size_t target_count = 0;
  std::size_t n = 0;
};

struct NormBlock {
  double value = 0;  ///< sum, or maximum
  bool finite = true;
};

/// Pointers into each arena for one run of n elements.
struct UpdateSlice {
  float* master = nullptr;
  float* accumulator = nullptr;
  std::uint16_t* weight = nullptr;
  float* moment1 = nullptr;
  float* moment2 = nullptr;
  std::size_t n = 0;
  double coefficient = 1;
};

/// The element loops of one instruction set. Single-threaded, any alignment, any n including 0; no byte
/// outside [pointer, pointer + n) is touched. Every table gives the same bits.
struct KernelTable {
  std::string_view name;  ///< "avx512", "avx2", "portable"
  void (*bf16_to_f32)(const std::uint16_t* source, float* target, std::size_t n);
  void (*f32_to_bf16)(const float* source, std::uint16_t* target, std::size_t n);
  void (*accumulate)(const AccumulateSlice& slice);
  void (*reduce)(const ReduceSlice& slice);
  /// At most norm_block_size elements. `counted` false: only `finite` matters.
  NormBlock (*norm_block)(const float* source, std::size_t n, NormKind kind, double p, double power_scale);
  void (*update)(const UpdateSlice& slice, const UpdateSettings& settings);
};

using numerics::norm_block_size;

/// The tables this machine can run, best first; "portable" is always there.
const std::vector<const KernelTable*>& available_kernel_tables();
/// The best one, or the one that FOLDSTEP_INSTRUCTION_SET names (Code::InvalidArgument if it is not
/// available).
const KernelTable& kernel_table();

}  // namespace foldstep::cpu
