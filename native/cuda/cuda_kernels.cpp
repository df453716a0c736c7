#include "cuda/cuda_kernels.hpp"

#include <utility>

#include "cuda/errors.hpp"
#include "cuda/kernels/kernels.hpp"
#include "cuda/stream/cuda_stream.hpp"
#include "runtime/kernel_checks.hpp"

namespace foldstep::cuda {

namespace {

template <typename T>
T* address(const Span& span) {
  return span.memory ? span.as<T>() : nullptr;
}

UpdatePass pass_of(const UpdateSettings& s) {
  UpdatePass pass;
  pass.rule = s.rule;
  pass.with_momentum = s.momentum > 0;
  if (s.rule == Rule::SGD) {
    pass.sgd = numerics::sgd_constants(s.learning_rate, s.weight_decay, s.momentum, s.nesterov, s.step);
  } else {
    pass.adam =
        numerics::adam_constants(s.learning_rate, s.weight_decay, s.beta1, s.beta2, s.epsilon, s.step);
  }
  return pass;
}

}  // namespace

void CudaKernels::cast(Stream& stream, Span source, DType from, Span target, DType to, std::size_t count) {
  check_cast(source, from, target, to, count);
  CudaStream::of(stream).enqueue([source, target, to, count](StreamWorker& worker) {
    if (to == DType::F32) {
      cuda::cast(worker.launch(), source.as<const std::uint16_t>(), target.as<float>(), count);
    } else {
      cuda::cast(worker.launch(), source.as<const float>(), target.as<std::uint16_t>(), count);
    }
  });
}

void CudaKernels::copy(Stream& stream, Span source, Span target, std::size_t bytes) {
  check_copy(source, target, bytes);
  if (bytes == 0) return;
  CudaStream::of(stream).enqueue([source, target, bytes](StreamWorker& worker) {
    check(cudaMemcpyAsync(target.as<void>(), source.as<const void>(), bytes, cudaMemcpyDefault,
                          worker.stream()),
          "copying");
  });
}

void CudaKernels::zero(Stream& stream, Span target, std::size_t bytes) {
  check_zero(target, bytes);
  if (bytes == 0) return;
  CudaStream::of(stream).enqueue(
      [target, bytes](StreamWorker& worker) { cuda::zero(worker.launch(), target.as<void>(), bytes); });
}

void CudaKernels::norm_partials(Stream& stream, std::shared_ptr<const NormPlan> plan, NormKind kind, double p,
                                Span arena, Span power_scale, Span partials) {
  CudaStream::of(stream).enqueue(
      [plan = std::move(plan), kind, p, arena, power_scale, partials](StreamWorker& worker) {
        const PlanCache::Norm uploaded = worker.plans().norm(worker.shared_context(), plan);
        worker.keep(uploaded.memory);
        cuda::norm_partials(worker.launch(), uploaded.plan, kind, p, address<const float>(arena),
                            kind == NormKind::Power ? power_scale.as<const double>() : nullptr,
                            partials.as<double>());
      });
}

void CudaKernels::power_scale(Stream& stream, Span gathered, std::uint32_t groups, int ranks, Span scale) {
  CudaStream::of(stream).enqueue([gathered, groups, ranks, scale](StreamWorker& worker) {
    cuda::power_scale(worker.launch(), gathered.as<const double>(), groups, ranks, scale.as<double>());
  });
}

void CudaKernels::finish_norm(Stream& stream, const FinishNorm& request, Span gathered, Span power_scale,
                              Span scalars) {
  CudaStream::of(stream).enqueue([request, gathered, power_scale, scalars](StreamWorker& worker) {
    const PlanCache::Numbers own = worker.plans().numbers(worker.shared_context(), request.group_max_norms);
    if (own.memory) worker.keep(own.memory);
    const numerics::FinishNorm device_request{request.kind,  request.p,        request.groups,
                                              request.ranks, request.max_norm, own.values};
    cuda::finish_norm(worker.launch(), device_request, gathered.as<const double>(),
                      request.kind == NormKind::Power ? power_scale.as<const double>() : nullptr,
                      scalars.as<double>());
  });
}

void CudaKernels::update(Stream& stream, std::shared_ptr<const UpdatePlan> plan,
                         const UpdateSettings& settings, const UpdateArenas& arenas, Span scalars) {
  CudaStream::of(stream).enqueue([plan = std::move(plan), settings, arenas, scalars](StreamWorker& worker) {
    const PlanCache::Update uploaded = worker.plans().update(worker.shared_context(), plan);
    worker.keep(uploaded.memory);
    UpdatePass pass = pass_of(settings);
    pass.plan = uploaded.plan;
    pass.master = address<float>(arenas.master);
    pass.accumulator = address<float>(arenas.accumulator);
    pass.weight = address<std::uint16_t>(arenas.weight);
    pass.moment1 = address<float>(arenas.moment1);
    pass.moment2 = address<float>(arenas.moment2);
    pass.scalars = scalars.as<const double>();
    cuda::update(worker.launch(), pass);
  });
}

}  // namespace foldstep::cuda
