#include "cpu/cpu_kernels.hpp"

#include <cstring>
#include <utility>

#include "cpu/kernels/norm_pass.hpp"
#include "cpu/kernels/update_pass.hpp"
#include "cpu/stream.hpp"
#include "runtime/kernel_checks.hpp"

namespace foldstep::cpu {
namespace {

template <typename T>
T* address(const Span& span) {
  return span.memory ? span.as<T>() : nullptr;
}

}  // namespace

CpuKernels::CpuKernels(std::shared_ptr<Context> context) : CpuKernels(std::move(context), kernel_table()) {}

CpuKernels::CpuKernels(std::shared_ptr<Context> context, const KernelTable& table)
    : context_(std::move(context)), table_(table) {}

void CpuKernels::cast(Stream& stream, Span source, DType from, Span target, DType to, std::size_t count) {
  check_cast(source, from, target, to, count);
  const bool widening = to == DType::F32;
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
  check_copy(source, target, bytes);
  CpuStream::of(stream).enqueue([context = context_, source, target, bytes](const Cancelled&) {
    context->threads.parallel_for(bytes, byte_grain, [&](std::size_t begin, std::size_t end) {
      std::memcpy(target.as<std::byte>() + begin, source.as<std::byte>() + begin, end - begin);
    });
  });
}

void CpuKernels::zero(Stream& stream, Span target, std::size_t bytes) {
  check_zero(target, bytes);
  CpuStream::of(stream).enqueue([context = context_, target, bytes](const Cancelled&) {
    context->threads.parallel_for(bytes, byte_grain, [&](std::size_t begin, std::size_t end) {
      std::memset(target.as<std::byte>() + begin, 0, end - begin);
    });
  });
}

void CpuKernels::norm_partials(Stream& stream, std::shared_ptr<const NormPlan> plan, NormKind kind, double p,
                               Span arena, Span power_scale, Span partials) {
  CpuStream::of(stream).enqueue([context = context_, &table = table_, plan = std::move(plan), kind, p, arena,
                                 power_scale, partials](const Cancelled&) {
    find_norm_partials(context->threads, table, *plan, kind, p, address<const float>(arena),
                       kind == NormKind::Power ? *power_scale.as<double>() : 1, partials.as<double>());
  });
}

void CpuKernels::power_scale(Stream& stream, Span gathered, std::uint32_t groups, int ranks, Span scale) {
  CpuStream::of(stream).enqueue([gathered, groups, ranks, scale](const Cancelled&) {
    *scale.as<double>() = find_power_scale(gathered.as<double>(), groups, ranks);
  });
}

void CpuKernels::finish_norm(Stream& stream, const FinishNorm& request, Span gathered, Span power_scale,
                             Span scalars) {
  CpuStream::of(stream).enqueue([request, gathered, power_scale, scalars](const Cancelled&) {
    cpu::finish_norm(request, gathered.as<double>(),
                     request.kind == NormKind::Power ? *power_scale.as<double>() : 1, scalars.as<double>());
  });
}

void CpuKernels::update(Stream& stream, std::shared_ptr<const UpdatePlan> plan,
                        const UpdateSettings& settings, const UpdateArenas& arenas, Span scalars) {
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
