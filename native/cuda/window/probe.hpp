#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/comm/cuda_communicator.hpp"
#include "cuda/memory/device_memory.hpp"
#include "cuda/stream/stream_worker.hpp"
#include "cuda/window/peer_slab.hpp"

namespace foldstep::cuda {

/// Of every pair of ranks: a kernel of the one has written into the memory of the other, which finds it
/// there, and so does a kernel of the one that reads it back.
class Probe {
 public:
  Probe(StreamWorker& worker, const CudaCommunicator& communicator,
        const std::vector<std::shared_ptr<PeerSlab>>& slabs);

  void write();
  /// Once every member has written. Errors: Code::PathUnavailable.
  void verify();

 private:
  int count() const { return static_cast<int>(slabs_.size()); }
  SignalPad* pad_of(int member) const { return slabs_[static_cast<std::size_t>(member)]->pad(); }
  std::byte* word(int member) const {
    return words_->data() + static_cast<std::size_t>(member) * sizeof(std::uint32_t);
  }
  void require(bool right, int member, const char* how) const;

  StreamWorker& worker_;
  const CudaCommunicator& communicator_;
  const std::vector<std::shared_ptr<PeerSlab>>& slabs_;
  int self_;
  std::shared_ptr<DeviceMemory> words_;
};

}  // namespace foldstep::cuda
