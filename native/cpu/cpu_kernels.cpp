#include "cpu/cpu_kernels.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "cpu/kernels/norm_pass.hpp"
#include "cpu/kernels/update_pass.hpp"
#include "cpu/stream.hpp"
#include "numerics/norm.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

/// Throws unless `span` has elements [offset, offset + count).
void require_room(const Span& span, std::size_t offset, std::size_t count, DType type, const char* what) {
  if (count == 0) return;
  const std::size_t bytes = span.memory ? span.memory->bytes() : 0;
  const std::size_t room = bytes > span.offset ? (bytes - span.offset) / size_of(type) : 0;
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

template <typename T>
T* address(const Span& span) {
  return span.memory ? span.as<T>() : nullptr;
}

}  // namespace

CpuKernels::CpuKernels(std::shared_ptr<Context> context) : CpuKernels(std::move(context), kernel_table()) {}

CpuKernels::CpuKernels(std::shared_ptr<Context> context, const KernelTable& table)
    : context_(std::move(context)), table_(table) {}

void CpuKernels::cast(Stream& stream, Span source, DType from, Span target, DType to, std::size_t count) {
  const bool widening = from == DType::BF16 && to == DType::F32;
  if (!widening && !(from == DType::F32 && to == DType::BF16)) {
    throw Error(Code::InvalidDtype, "cast: from " + std::string(name_of(from)) + " to " +
                                        std::string(name_of(to)) +
                                        " is not there; it goes between bfloat16 and float32");
  }
  require_room(source, 0, count, from, "cast: source");
  require_room(target, 0, count, to, "cast: target");
  CpuStream::of(stream).enqueue([context = context_, &table = table_, source, target, widening,
                                 count](const Cancelled&) {
    constexpr std::size_t grain = 65536;
    context->threads.parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
      if (widening) {
        table.bf16_to_f32(source.as<const std::uint16_t>() + begin, target.as<float>() + begin, end - begin);
      } else {
        table.f32_to_bf16(source.as<const float>() + begin, target.as<std::uint16_t>() + begin, end - begin);
      }
    });
  });
}

namespace {
constexpr std::size_t byte_grain = 1 << 18;
}

void CpuKernels::copy(Stream& stream, Span source, Span target, std::size_t bytes) {
  require_room(source, 0, bytes, DType::U8, "copy: source");
  require_room(target, 0, bytes, DType::U8, "copy: target");
  CpuStream::of(stream).enqueue([context = context_, source, target, bytes](const Cancelled&) {
    context->threads.parallel_for(bytes, byte_grain, [&](std::size_t begin, std::size_t end) {
      std::memcpy(target.as<std::byte>() + begin, source.as<std::byte>() + begin, end - begin);
    });
  });
}

void CpuKernels::zero(Stream& stream, Span target, std::size_t bytes) {
  require_room(target, 0, bytes, DType::U8, "zero: target");
  CpuStream::of(stream).enqueue([context = context_, target, bytes](const Cancelled&) {
    context->threads.parallel_for(bytes, byte_grain, [&](std::size_t begin, std::size_t end) {
      std::memset(target.as<std::byte>() + begin, 0, end - begin);
    });
  });
}

void CpuKernels::norm_partials(Stream& stream, std::shared_ptr<const NormPlan> plan, NormKind kind, double p,
                               Span arena, Span power_scale, Span partials) {
  require_power(kind, p);
  for (const NormSegment& segment : plan->segments) {
    require(segment.group < plan->groups, "norm: a segment's group is not below the plan's number of groups");
    require_room(arena, segment.offset, segment.length, DType::F32, "norm: arena");
  }
  if (kind == NormKind::Power) require_room(power_scale, 0, 1, DType::F64, "norm: power scale");
  require_room(partials, 0, partials_length(plan->groups), DType::F64, "norm: partials");
  CpuStream::of(stream).enqueue([context = context_, &table = table_, plan = std::move(plan), kind, p, arena,
                                 power_scale, partials](const Cancelled&) {
    find_norm_partials(context->threads, table, *plan, kind, p, address<const float>(arena),
                       kind == NormKind::Power ? *power_scale.as<double>() : 1, partials.as<double>());
  });
}

void CpuKernels::power_scale(Stream& stream, Span gathered, std::uint32_t groups, int ranks, Span scale) {
  require(ranks >= 1, "norm: ranks must be at least 1");
  require_room(gathered, 0, static_cast<std::size_t>(ranks) * partials_length(groups), DType::F64,
               "norm: gathered partials");
  require_room(scale, 0, 1, DType::F64, "norm: power scale");
  CpuStream::of(stream).enqueue([gathered, groups, ranks, scale](const Cancelled&) {
    *scale.as<double>() = find_power_scale(gathered.as<double>(), groups, ranks);
  });
}

void CpuKernels::finish_norm(Stream& stream, const FinishNorm& request, Span gathered, Span power_scale,
                             Span scalars) {
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
  CpuStream::of(stream).enqueue([request, gathered, power_scale, scalars](const Cancelled&) {
    cpu::finish_norm(request, gathered.as<double>(),
                     request.kind == NormKind::Power ? *power_scale.as<double>() : 1, scalars.as<double>());
  });
}

void CpuKernels::update(Stream& stream, std::shared_ptr<const UpdatePlan> plan,
                        const UpdateSettings& settings, const UpdateArenas& arenas, Span scalars) {
  require_settings(settings);
  const bool adam = settings.rule != Rule::SGD;
  for (const UpdateSegment& segment : plan->segments) {
    require(segment.group < plan->groups,
            "update: a segment's group is not below the plan's number of groups");
    require_room(arenas.master, segment.master, segment.length, DType::F32, "update: master");
    require_room(arenas.accumulator, segment.accumulator, segment.length, DType::F32, "update: accumulator");
    require_room(arenas.weight, segment.weight, segment.length, DType::BF16, "update: weight");
    if (adam || settings.momentum > 0) {
      require_room(arenas.moment1, segment.master, segment.length, DType::F32, "update: moment1");
    }
    if (adam) require_room(arenas.moment2, segment.master, segment.length, DType::F32, "update: moment2");
  }
  for (const UpdatePlan::Clear& run : plan->clears) {
    require_room(arenas.accumulator, run.offset, run.length, DType::F32, "update: accumulator");
  }
  require_room(scalars, 0, NormScalars{plan->groups}.length(), DType::F64, "update: scalars");
  CpuStream::of(stream).enqueue([context = context_, &table = table_, plan = std::move(plan), settings,
                                 arenas, scalars](const Cancelled&) {
    const UpdateSlice bases{.master = address<float>(arenas.master),
                            .accumulator = address<float>(arenas.accumulator),
                            .weight = address<std::uint16_t>(arenas.weight),
                            .moment1 = address<float>(arenas.moment1),
                            .moment2 = address<float>(arenas.moment2)};
    run_update(context->threads, table, *plan, settings, bases, scalars.as<double>());
  });
}

}  // namespace foldstep::cpu
