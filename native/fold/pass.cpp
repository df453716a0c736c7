#include "fold/pass.hpp"

namespace foldstep::fold {

Place place_of(const Span& span, std::size_t first, DType type) {
  return {span.as<std::byte>() + first * size_of(type)};
}

Place own_accumulator(const Pass& pass, const AccumulateRequest& request, std::size_t first) {
  const std::size_t index = pass.layout.accumulator_index(pass.self, request.sharded, first);
  return place_of(request.accumulator, index, DType::F32);
}

std::vector<Place> data_of_all(const Pass& pass, const Peers& peers, DType type, std::size_t first) {
  const Range bytes{first * size_of(type), pass.layout.extent(size_of(type))};
  std::vector<Place> places;
  for (int member = 0; member < pass.size(); ++member) places.push_back(peers.data_of(member, bytes));
  return places;
}

std::vector<Place> accumulators_of_shard(const Pass& pass, const Peers& peers,
                                         const AccumulateRequest& request, std::size_t first) {
  const Layout& layout = pass.layout;
  const std::size_t index = layout.accumulator_index(pass.self, request.sharded, first);
  const Range bytes{index * sizeof(float), layout.accumulator_extent(pass.self, request.sharded)};
  std::vector<Place> places{own_accumulator(pass, request, first)};
  for (int i = 0; i < layout.geometry().replicas; ++i) {
    const int member = layout.first_replica(pass.self) + i;
    if (member != pass.self) places.push_back(peers.accumulator_of(member, bytes));
  }
  return places;
}

SumIntoAccumulators sum_of(const AccumulateRequest& request, std::size_t n) {
  SumIntoAccumulators sum;
  sum.type = request.gradient_type;
  sum.accumulation = request.accumulation;
  sum.scale = request.scale;
  sum.n = n;
  return sum;
}

SumIntoTargets sum_of(const ReduceRequest& request, std::size_t n) {
  SumIntoTargets sum;
  sum.type = request.type;
  sum.scale = request.scale;
  sum.n = n;
  return sum;
}

}  // namespace foldstep::fold
