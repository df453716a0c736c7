#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuda/comm/cuda_communicator.hpp"
#include "cuda/window/peer_slab.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

/// How one step of a window's creation went on one member. Plain bytes.
struct Report {
  static constexpr std::int32_t success = -1;
  std::int32_t code = success;
  std::array<char, 508> text{};
  PeerSlab::Address address{};
  Places mapped = 0;  ///< the members whose slabs it has mapped

  void fail(const Error& error);
};

/// Does `step(report)` and reports what it throws.
template <typename Step>
Report report_of(const Step& step) {
  Report report;
  try {
    step(report);
  } catch (const Error& error) {
    report.fail(error);
  }
  return report;
}

/// An error that every member throws: the communicator stays usable.
struct Agreed {
  Error error;
};

/// Every member's report, when every member has come.
std::vector<Report> gather(Lane& lane, CudaCommunicator& communicator, const Report& mine);
/// Throws the first failure that is in the reports as Agreed.
void agree(const CudaCommunicator& communicator, const std::vector<Report>& reports);
/// Both.
std::vector<Report> exchange(Lane& lane, CudaCommunicator& communicator, const Report& mine);

}  // namespace foldstep::cuda
