#include "cuda/window/probe.hpp"

#include <string>

#include "cuda/kernels/kernels.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

/// What `from` writes into the pad of `to`, to prove that it can. Never 0.
std::uint32_t proof(int from, int to) {
  return 0x5eed'0000U + static_cast<std::uint32_t>(from * max_members + to) + 1;
}

}  // namespace

Probe::Probe(StreamWorker& worker, const CudaCommunicator& communicator,
             const std::vector<std::shared_ptr<PeerSlab>>& slabs)
    : worker_(worker),
      communicator_(communicator),
      slabs_(slabs),
      self_(communicator.rank()),
      words_(DeviceMemory::allocate(worker.shared_context(), slabs.size() * sizeof(std::uint32_t))) {}

void Probe::write() {
  std::vector<std::uint32_t> proofs(slabs_.size());
  for (int m = 0; m < count(); ++m) proofs[static_cast<std::size_t>(m)] = proof(self_, m);
  words_->write(0, proofs.data(), proofs.size() * sizeof(std::uint32_t));
  for (int m = 0; m < count(); ++m) {
    copy(worker_.launch(), {word(m)}, &pad_of(m)->probe[self_], sizeof(std::uint32_t));
  }
  worker_.finish();
}

void Probe::verify() {
  std::vector<std::uint32_t> found(slabs_.size());
  worker_.context().side_stream.copy(found.data(), pad_of(self_)->probe,
                                     found.size() * sizeof(std::uint32_t));
  for (int m = 0; m < count(); ++m)
    require(found[static_cast<std::size_t>(m)] == proof(m, self_), m, "written by");
  for (int m = 0; m < count(); ++m) {
    copy(worker_.launch(), {reinterpret_cast<std::byte*>(&pad_of(m)->probe[self_])}, word(m),
         sizeof(std::uint32_t));
  }
  worker_.finish();
  words_->read(0, found.data(), found.size() * sizeof(std::uint32_t));
  for (int m = 0; m < count(); ++m)
    require(found[static_cast<std::size_t>(m)] == proof(self_, m), m, "read from");
}

void Probe::require(bool right, int member, const char* how) const {
  if (right) return;
  throw Error(Code::PathUnavailable,
              std::string("what was ") + how + " rank " +
                  std::to_string(communicator_.world_ranks()[static_cast<std::size_t>(member)]) +
                  " through mapped memory is not what it should be");
}

}  // namespace foldstep::cuda
