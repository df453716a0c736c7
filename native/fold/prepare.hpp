#pragma once

#include <memory>

#include "runtime/backend.hpp"
#include "runtime/prepared_operation.hpp"

/// The folds over the operations of a backend. What is prepared is enqueued with no values, for all that the
/// request's geometry covers, or with the first and one past the last of the elements to cover. Those lie
/// within the geometry.
namespace foldstep::fold {

/// The backend outlives what is prepared. Errors: Code::InvalidArgument, InvalidDtype, InvalidLength,
/// PathUnavailable.
std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team,
                                           const AccumulateRequest& request);
std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team, const ReduceRequest& request);
std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team, const GatherRequest& request);

}  // namespace foldstep::fold
