#pragma once

#include <memory>

#include "runtime/backend.hpp"
#include "runtime/prepared_operation.hpp"

/// The folds over the operations of a backend. `enqueue` takes no values, or two. Without values it covers
/// the whole geometry of the request. Two values are the first element to cover and one past the last. They
/// must lie within the geometry.
namespace foldstep::fold {

/// The backend outlives what is prepared. Errors: Code::InvalidArgument, InvalidDtype, InvalidLength,
/// PathUnavailable.
std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team,
                                           const AccumulateRequest& request);
std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team, const ReduceRequest& request);
std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team, const GatherRequest& request);

}  // namespace foldstep::fold
