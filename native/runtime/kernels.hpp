#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "numerics/norm_finish.hpp"
#include "runtime/dtype.hpp"
#include "runtime/memory.hpp"
#include "runtime/stream.hpp"

namespace foldstep {

using numerics::NormKind;
using numerics::NormScalars;
using numerics::partials_length;

template <>
struct Names<NormKind> {
  static constexpr std::array<std::string_view, 4> all{"one", "two", "power", "infinity"};
};

/// A run of elements of the accumulator arena that belong to one parameter.
struct NormSegment {
  std::size_t offset = 0;  ///< elements into the arena
  std::size_t length = 0;
  std::uint32_t group = 0;
  std::uint32_t parameter = 0;
  bool counted = false;  ///< this rank is the owner; elements of others are only checked for being finite
};

struct NormPlan {
  std::vector<NormSegment> segments;
  std::uint32_t groups = 1;
};

struct FinishNorm {
  NormKind kind = NormKind::Two;
  double p = 2;
  std::uint32_t groups = 1;
  int ranks = 1;
  double max_norm = 0;                  ///< of the whole gradient; 0: not clipped
  std::vector<double> group_max_norms;  ///< a group's own; 0: clipped with the whole
};

enum class Rule : std::uint8_t { SGD = 0, Adam = 1, AdamW = 2 };
template <>
struct Names<Rule> {
  static constexpr std::array<std::string_view, 3> all{"sgd", "adam", "adamw"};
};

struct UpdateSettings {
  Rule rule = Rule::SGD;
  double learning_rate = 0;
  double weight_decay = 0;
  double momentum = 0;  ///< SGD
  bool nesterov = false;
  double beta1 = 0;  ///< Adam, AdamW
  double beta2 = 0;
  double epsilon = 0;
  std::uint64_t step = 1;  ///< counted from 1
};

/// A run of elements with one clip coefficient, as offsets in elements into each arena.
struct UpdateSegment {
  std::size_t master = 0;  ///< also into the moments
  std::size_t accumulator = 0;
  std::size_t weight = 0;
  std::size_t length = 0;
  std::uint32_t group = 0;
};

struct UpdatePlan {
  std::vector<UpdateSegment> segments;
  struct Clear {
    std::size_t offset;
    std::size_t length;
  };
  std::vector<Clear> clears;  ///< accumulator runs this rank only clears
  std::uint32_t groups = 1;   ///< of the scalars the coefficients are taken from
};

struct UpdateArenas {
  Span master;       ///< FP32
  Span accumulator;  ///< FP32
  Span weight;       ///< BF16
  Span moment1;      ///< FP32; unused by SGD without momentum
  Span moment2;      ///< FP32; Adam and AdamW
};

/// Device operations without other ranks. Lengths are elements. Every one gives the same bits whatever the
/// instruction set and the number of threads.
class Kernels {
 public:
  virtual ~Kernels() = default;

  /// BF16 <-> F32; round to nearest even.
  virtual void cast(Stream& stream, Span source, DType from, Span target, DType to, std::size_t count) = 0;
  virtual void copy(Stream& stream, Span source, Span target, std::size_t bytes) = 0;
  virtual void zero(Stream& stream, Span target, std::size_t bytes) = 0;

  /// This rank's partials of the norm of `arena` (FP32) into `partials` (FP64, partials_length(groups)).
  /// For Power, `power_scale` (one FP64) is the power of two that the elements are multiplied with first.
  virtual void norm_partials(Stream& stream, std::shared_ptr<const NormPlan> plan, NormKind kind, double p,
                             Span arena, Span power_scale, Span partials) = 0;
  /// The power of two for Power, from every rank's partials of Infinity in `gathered`, in rank order.
  virtual void power_scale(Stream& stream, Span gathered, std::uint32_t groups, int ranks, Span scale) = 0;
  /// NormScalars into `scalars` from every rank's partials in `gathered`, in rank order.
  virtual void finish_norm(Stream& stream, const FinishNorm& request, Span gathered, Span power_scale,
                           Span scalars) = 0;

  /// One optimizer step over the plan's segments with the coefficients in `scalars`; weights rounded from the
  /// masters; accumulators cleared. If `scalars` says skip, accumulators are cleared and nothing else is
  /// touched.
  virtual void update(Stream& stream, std::shared_ptr<const UpdatePlan> plan, const UpdateSettings& settings,
                      const UpdateArenas& arenas, Span scalars) = 0;
};

}  // namespace foldstep
