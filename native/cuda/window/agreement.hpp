#pragma once

#include <vector>

#include "cuda/comm/cuda_communicator.hpp"
#include "cuda/window/peer_slab.hpp"
#include "runtime/error.hpp"
#include "runtime/step_report.hpp"

namespace foldstep::cuda {

/// How one step of a window's creation went on one member.
struct Report : StepReport {
  PeerSlab::Address address{};
  Places mapped = 0;  ///< the members whose slabs it has mapped
};

/// An error that every member throws: the communicator stays usable.
struct Agreed {
  Error error;
};

/// Every member's report, when every member has come.
std::vector<Report> gather(StreamWorker& worker, CudaCommunicator& communicator, const Report& mine);
/// Throws the first failure that is in the reports as Agreed.
void agree(const CudaCommunicator& communicator, const std::vector<Report>& reports);
/// Both.
std::vector<Report> exchange(StreamWorker& worker, CudaCommunicator& communicator, const Report& mine);

}  // namespace foldstep::cuda
