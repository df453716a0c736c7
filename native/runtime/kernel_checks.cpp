#include "runtime/kernel_checks.hpp"

#include <cmath>
#include <string>

#include "numerics/norm.hpp"
#include "runtime/error.hpp"

namespace foldstep {
namespace {

/// Throws unless `span` has elements [offset, offset + count).
void require_room(const Span& span, std::size_t offset, std::size_t count, DType type, const char* what) {
  if (count == 0) return;
  const std::size_t room = span.room() / size_of(type);
  if (offset <= room && count <= room - offset) return;
  throw Error(Code::InvalidLength, std::string(what) + ": " + std::to_string(count) + " elements of " +
                                       std::string(name_of(type)) + " at element " + std::to_string(offset) +
                                       " do not fit into the " + std::to_string(room) +
                                       " of the buffer; shorten the range or take a larger buffer");
}

void require(bool holds, const char* message) {
  if (!holds) throw Error(Code::InvalidArgument, message);
}

void require_power(NormKind kind, double p) {
  require(kind != NormKind::Power || (p >= 1 && p <= numerics::largest_power),
          "norm: p must be from 1 to 1000; use infinity for more");
}

void require_settings(const UpdateSettings& s) {
  const auto is_decay = [](double beta) { return beta >= 0 && beta < 1; };
  require(s.step >= 1, "update: step must be at least 1: steps are counted from 1");
  require(std::isfinite(s.learning_rate) && std::isfinite(s.weight_decay),
          "update: the learning rate and the weight decay must be finite");
  if (s.rule == Rule::SGD) {
    require(s.momentum >= 0 && std::isfinite(s.momentum), "update: momentum must be finite and not negative");
    require(!s.nesterov || s.momentum > 0, "update: nesterov needs a momentum above 0");
    return;
  }
  require(is_decay(s.beta1) && is_decay(s.beta2), "update: beta1 and beta2 must be at least 0 and below 1");
  require(s.epsilon >= 0 && std::isfinite(s.epsilon), "update: epsilon must be finite and not negative");
}

}  // namespace

void check_cast(const Span& source, DType from, const Span& target, DType to, std::size_t count) {
  const bool widening = from == DType::BF16 && to == DType::F32;
  if (!widening && !(from == DType::F32 && to == DType::BF16)) {
    throw Error(Code::InvalidDtype, "cast: from " + std::string(name_of(from)) + " to " +
                                        std::string(name_of(to)) +
                                        " is not there; it goes between bfloat16 and float32");
  }
  require_room(source, 0, count, from, "cast: source");
  require_room(target, 0, count, to, "cast: target");
}

void check_copy(const Span& source, const Span& target, std::size_t bytes) {
  require_room(source, 0, bytes, DType::U8, "copy: source");
  require_room(target, 0, bytes, DType::U8, "copy: target");
}

void check_zero(const Span& target, std::size_t bytes) {
  require_room(target, 0, bytes, DType::U8, "zero: target");
}

void check_norm_partials(const NormPlan& plan, NormKind kind, double p, const Span& arena,
                         const Span& power_scale, const Span& partials) {
  require_power(kind, p);
  for (const NormSegment& segment : plan.segments) {
    require(segment.group < plan.groups, "norm: a segment's group is not below the plan's number of groups");
    require_room(arena, segment.offset, segment.length, DType::F32, "norm: arena");
  }
  if (kind == NormKind::Power) require_room(power_scale, 0, 1, DType::F64, "norm: power scale");
  require_room(partials, 0, partials_length(plan.groups), DType::F64, "norm: partials");
}

void check_power_scale(const Span& gathered, std::uint32_t groups, int ranks, const Span& scale) {
  require(ranks >= 1, "norm: ranks must be at least 1");
  require_room(gathered, 0, static_cast<std::size_t>(ranks) * partials_length(groups), DType::F64,
               "norm: gathered partials");
  require_room(scale, 0, 1, DType::F64, "norm: power scale");
}

void check_finish_norm(const FinishNorm& request, const Span& gathered, const Span& power_scale,
                       const Span& scalars) {
  require_power(request.kind, request.p);
  require(request.ranks >= 1, "norm: ranks must be at least 1");
  require(request.max_norm >= 0, "norm: max_norm must be 0 or more; 0 stands for no clipping");
  require(request.group_max_norms.empty() || request.group_max_norms.size() == request.groups,
          "norm: group_max_norms must be empty or have one entry a group");
  for (const double own : request.group_max_norms) {
    require(own >= 0, "norm: a group's max_norm must be 0 or more; 0 stands for clipped with the whole");
  }
  require_room(gathered, 0, static_cast<std::size_t>(request.ranks) * partials_length(request.groups),
               DType::F64, "norm: gathered partials");
  if (request.kind == NormKind::Power) require_room(power_scale, 0, 1, DType::F64, "norm: power scale");
  require_room(scalars, 0, NormScalars{request.groups}.length(), DType::F64, "norm: scalars");
}

void check_update(const UpdatePlan& plan, const UpdateSettings& settings, const UpdateArenas& arenas,
                  const Span& scalars) {
  require_settings(settings);
  const bool adam = settings.rule != Rule::SGD;
  for (const UpdateSegment& segment : plan.segments) {
    require(segment.group < plan.groups,
            "update: a segment's group is not below the plan's number of groups");
    require_room(arenas.master, segment.master, segment.length, DType::F32, "update: master");
    require_room(arenas.accumulator, segment.accumulator, segment.length, DType::F32, "update: accumulator");
    require_room(arenas.weight, segment.weight, segment.length, DType::BF16, "update: weight");
    if (adam || settings.momentum > 0) {
      require_room(arenas.moment1, segment.master, segment.length, DType::F32, "update: moment1");
    }
    if (adam) require_room(arenas.moment2, segment.master, segment.length, DType::F32, "update: moment2");
  }
  for (const UpdatePlan::Clear& run : plan.clears) {
    require_room(arenas.accumulator, run.offset, run.length, DType::F32, "update: accumulator");
  }
  require_room(scalars, 0, NormScalars{plan.groups}.length(), DType::F64, "update: scalars");
}

}  // namespace foldstep
