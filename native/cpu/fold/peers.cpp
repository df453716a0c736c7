#include "cpu/fold/peers.hpp"

namespace foldstep::cpu {

float* own_accumulator(const Pass& pass, const Fold::Accumulate& request, std::size_t first) {
  return request.accumulator.as<float>() +
         pass.layout.accumulator_index(pass.members.index(), request.sharded, first);
}

std::vector<void*> peer_data(const Pass& pass, const Signals::Turn& turn, DType type, std::size_t first) {
  const std::size_t extent = pass.layout.extent(size_of(type));
  std::vector<void*> data;
  for (int m = 0; m < pass.members.size(); ++m) {
    const std::size_t offset = turn.descriptor(static_cast<std::size_t>(m)).data_offset;
    data.push_back(pass.members.peer_bytes(m, offset, extent) + first * size_of(type));
  }
  return data;
}

std::vector<float*> replica_accumulators(const Pass& pass, const Signals::Turn& turn,
                                         const Fold::Accumulate& request, std::size_t first) {
  const Layout& layout = pass.layout;
  const int self = pass.members.index();
  const std::size_t extent = layout.accumulator_extent(self, request.sharded);
  const std::size_t index = layout.accumulator_index(self, request.sharded, first);
  std::vector<float*> accumulators{own_accumulator(pass, request, first)};
  for (int i = 0; i < layout.geometry().replicas; ++i) {
    const int member = layout.first_replica(self) + i;
    if (member == self) continue;
    const std::size_t offset = turn.descriptor(static_cast<std::size_t>(member)).accumulator_offset;
    accumulators.push_back(reinterpret_cast<float*>(pass.members.peer_bytes(member, offset, extent)) + index);
  }
  return accumulators;
}

}  // namespace foldstep::cpu
