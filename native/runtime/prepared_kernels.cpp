#include "runtime/prepared_kernels.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/kernel_checks.hpp"

namespace foldstep {

namespace {

void require_values(std::span<const double> values, std::size_t count) {
  if (values.size() == count) return;
  throw Error(Code::InvalidArgument, "this operation is enqueued with " + std::to_string(count) +
                                         " values, not " + std::to_string(values.size()));
}

/// Enqueues by calling `call(stream, values)` with `count` values.
template <typename Call>
class PreparedCall final : public PreparedOperation {
 public:
  PreparedCall(std::size_t count, Call call) : count_(count), call_(std::move(call)) {}
  void enqueue(Stream& stream, std::span<const double> values) override {
    require_values(values, count_);
    call_(stream, values);
  }

 private:
  std::size_t count_;
  Call call_;
};

template <typename Call>
std::shared_ptr<PreparedOperation> prepared(std::size_t count, Call call) {
  return std::make_shared<PreparedCall<Call>>(count, std::move(call));
}

void require_finite(double learning_rate) {
  if (!std::isfinite(learning_rate))
    throw Error(Code::InvalidArgument, "update: the learning rate must be finite");
}

std::uint64_t step_of(double value) {
  constexpr double largest = 9'007'199'254'740'991;
  if (value >= 1 && value <= largest && std::trunc(value) == value) return static_cast<std::uint64_t>(value);
  throw Error(Code::InvalidArgument,
              "update: the step must be a whole number of at least 1: steps are counted from 1");
}

}  // namespace

std::shared_ptr<PreparedOperation> prepare(Backend& backend, NormPartialsRequest request) {
  check_norm_partials(request.plan, request.kind, request.p, request.arena, request.power_scale,
                      request.partials);
  const auto plan = std::make_shared<const NormPlan>(std::move(request.plan));
  return prepared(0, [&backend, plan, r = std::move(request)](Stream& stream, std::span<const double>) {
    backend.kernels().norm_partials(stream, plan, r.kind, r.p, r.arena, r.power_scale, r.partials);
  });
}

std::shared_ptr<PreparedOperation> prepare(Backend& backend, PowerScaleRequest request) {
  check_power_scale(request.gathered, request.groups, request.ranks, request.scale);
  return prepared(0, [&backend, r = std::move(request)](Stream& stream, std::span<const double>) {
    backend.kernels().power_scale(stream, r.gathered, r.groups, r.ranks, r.scale);
  });
}

std::shared_ptr<PreparedOperation> prepare(Backend& backend, FinishNormRequest request) {
  check_finish_norm(request.norm, request.gathered, request.power_scale, request.scalars);
  return prepared(0, [&backend, r = std::move(request)](Stream& stream, std::span<const double>) {
    backend.kernels().finish_norm(stream, r.norm, r.gathered, r.power_scale, r.scalars);
  });
}

std::shared_ptr<PreparedOperation> prepare(Backend& backend, UpdateRequest request) {
  check_update(request.plan, request.settings, request.arenas, request.scalars);
  const auto plan = std::make_shared<const UpdatePlan>(std::move(request.plan));
  return prepared(2,
                  [&backend, plan, r = std::move(request)](Stream& stream, std::span<const double> values) {
                    UpdateSettings settings = r.settings;
                    settings.learning_rate = values[0];
                    settings.step = step_of(values[1]);
                    require_finite(settings.learning_rate);
                    backend.kernels().update(stream, plan, settings, r.arenas, r.scalars);
                  });
}

}  // namespace foldstep
