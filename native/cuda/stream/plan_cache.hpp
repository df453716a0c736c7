#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/kernels/kernels.hpp"
#include "cuda/memory/device_memory.hpp"

namespace foldstep::cuda {

/// Plans in device memory, uploaded once and kept for as long as the plan lives. One of each stream, since
/// what the first stage of a norm finds out lies beside its plan.
class PlanCache {
 public:
  struct Norm {
    DeviceNormPlan plan;
    std::shared_ptr<const void> memory;  ///< kept until the stream has passed the plan's use
  };
  struct Update {
    DeviceUpdatePlan plan;
    std::shared_ptr<const void> memory;
  };
  struct Numbers {
    const double* values = nullptr;
    std::shared_ptr<const void> memory;
  };

  Norm norm(const std::shared_ptr<Context>& context, const std::shared_ptr<const NormPlan>& plan);
  Update update(const std::shared_ptr<Context>& context, const std::shared_ptr<const UpdatePlan>& plan);
  /// The same numbers as last time are not uploaded again. Null for none.
  Numbers numbers(const std::shared_ptr<Context>& context, const std::vector<double>& values);

 private:
  template <typename Plan, typename Uploaded>
  using Known = std::vector<std::pair<std::weak_ptr<const Plan>, Uploaded>>;

  Known<NormPlan, Norm> norms_;
  Known<UpdatePlan, Update> updates_;
  std::vector<double> last_numbers_;
  Numbers uploaded_numbers_;
};

}  // namespace foldstep::cuda
