#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/kernels/signal_pad.hpp"
#include "numerics/norm_finish.hpp"
#include "numerics/update.hpp"
#include "runtime/fold.hpp"
#include "runtime/kernels.hpp"
#include "runtime/place.hpp"

/// What starts the kernels. Nothing here waits for the device. Lengths are elements, addresses the device's,
/// at any alignment that their type has; 16-byte accesses where all of a pass's addresses allow them. A
/// length of 0 starts nothing. Errors of a start: Code::DeviceFailed.
namespace foldstep::cuda {

/// Where and under what condition a kernel runs.
struct Launch {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
  /// In device memory. Every kernel of this file does nothing where it says `failed`.
  const Status* status = nullptr;
};

void cast(const Launch& launch, const std::uint16_t* source, float* target, std::size_t n);
void cast(const Launch& launch, const float* source, std::uint16_t* target, std::size_t n);
void copy(const Launch& launch, Place source, void* target, std::size_t bytes);
void zero(const Launch& launch, void* target, std::size_t bytes);

/// acc = acc + scale * (x_0 + x_1 + ...), as numerics/ordered_sum.hpp has it, n elements from the given
/// places.
struct AccumulatePass {
  Place sources[max_members];       ///< at least one, in the team's order; may be `mirrors`
  Place accumulators[max_members];  ///< FP32; at least one: read from the first, the new value stored to all
  Place mirrors[max_members];       ///< scale * sum, rounded to `type`, stored to all
  int source_count = 0;
  int accumulator_count = 0;
  int mirror_count = 0;
  DType type = DType::BF16;  ///< of sources and mirrors: BF16 or F32
  Accumulation accumulation = Accumulation::FP32;
  float scale = 1.0F;
  std::size_t n = 0;
  int self = 0;  ///< whose pass it is, of the sources: members begin with different elements
};
void accumulate(const Launch& launch, const AccumulatePass& pass);

/// y = scale * (x_0 + x_1 + ...), stored to every target. Each target may be one of the sources.
struct ReducePass {
  Place sources[max_members];
  Place targets[max_members];
  int source_count = 0;
  int target_count = 0;
  DType type = DType::F32;  ///< F32 or BF16, of sources and targets
  float scale = 1.0F;
  std::size_t n = 0;
  int self = 0;  ///< whose pass it is, of the sources: members begin with different elements
};
void reduce(const Launch& launch, const ReducePass& pass);

/// At most numerics::norm_block_size elements of one segment of a NormPlan.
struct NormBlock {
  std::uint64_t offset;  ///< elements into the arena
  std::uint32_t length;
  std::uint32_t group;
  std::uint32_t parameter;
  std::uint32_t counted;
};
/// What the first stage finds out about a block.
struct NormBlockResult {
  double value;
  std::uint32_t finite;
};
/// A NormPlan in device memory: its segments' blocks, in order, and room for the result of each.
struct DeviceNormPlan {
  const NormBlock* blocks = nullptr;
  NormBlockResult* results = nullptr;
  std::uint32_t count = 0;
  std::uint32_t groups = 1;
};
void norm_partials(const Launch& launch, const DeviceNormPlan& plan, NormKind kind, double p,
                   const float* arena, const double* power_scale, double* partials);
void power_scale(const Launch& launch, const double* gathered, std::uint32_t groups, int ranks,
                 double* scale);
/// `request.group_max_norms`, if there is one, is in device memory.
void finish_norm(const Launch& launch, const numerics::FinishNorm& request, const double* gathered,
                 const double* power_scale, double* scalars);

/// A run of at most `update_tile` elements of one segment of an UpdatePlan.
struct UpdateTile {
  std::uint64_t master;  ///< also into the moments
  std::uint64_t accumulator;
  std::uint64_t weight;
  std::uint32_t length;
  /// Group of its coefficient, or `only_clear`.
  std::uint32_t group;
};
constexpr std::uint32_t update_tile = 8192;
constexpr std::uint32_t only_clear = 0xffff'ffffU;
/// An UpdatePlan in device memory.
struct DeviceUpdatePlan {
  const UpdateTile* tiles = nullptr;
  std::uint32_t count = 0;
  std::uint32_t groups = 1;
};
struct UpdatePass {
  DeviceUpdatePlan plan;
  Rule rule = Rule::SGD;
  bool with_momentum = false;  ///< SGD
  numerics::SgdConstants sgd;
  numerics::AdamConstants adam;
  float* master = nullptr;
  float* accumulator = nullptr;
  std::uint16_t* weight = nullptr;
  float* moment1 = nullptr;
  float* moment2 = nullptr;
  const double* scalars = nullptr;
};
void update(const Launch& launch, const UpdatePass& pass);

/// This rank's part in a meeting: it arrives with `epoch` at every member's pad and waits until all have
/// arrived at its own.
struct Meeting {
  SignalPad* pads[max_members];  ///< of the members, in the team's order; `self` is this rank
  int count = 0;
  int self = 0;
  std::uint32_t places[max_members];  ///< of the members in their window: whose slot is whose
  std::uint32_t channel = 0;
  std::uint32_t epoch = 0;
  bool announces = false;  ///< whether `mine` is told and compared with what the others tell
  Descriptor mine;
  std::uint64_t deadline_nanoseconds = 0;
  std::uint32_t ticket = 0;  ///< what the host knows the meeting by; written into the status if it fails
  Status* status = nullptr;  ///< where a failure is written; the same as Launch's
};
void meet(const Launch& launch, const Meeting& meeting);

}  // namespace foldstep::cuda
