#include <cstddef>
#include <cstdint>

#include "cuda/fold/paths.hpp"
#include "cuda/fold/places.hpp"

namespace foldstep::cuda {

namespace {

/// In the order that NCCL or MPI chooses.
void sum_over_team(const Pass& pass, std::byte* values, std::size_t count) {
  if (count == 0) return;
  pass.members.communicator().transport().all_reduce(pass.lane, values, count, DType::F32, ReduceOp::Sum);
}

void scale_in_place(const Pass& pass, std::byte* values, std::size_t count, float scale) {
  ReducePass kernel = begin_pass(DType::F32, scale, count);
  kernel.sources[0].base = values;
  kernel.source_count = 1;
  kernel.targets[0].base = values;
  kernel.target_count = 1;
  reduce(pass.lane.launch(), kernel);
}

/// An FP32 copy of everything covered, summed over the team.
class Staging {
 public:
  Staging(const Pass& pass, const Span& data, DType type)
      : pass_(pass),
        covered_(pass.layout.covered()),
        data_(data.as<std::byte>() + covered_.begin * size_of(type)),
        type_(type),
        values_(pass.lane.take(covered_.size() * sizeof(float))) {
    if (type == DType::BF16) {
      cast(pass.lane.launch(), reinterpret_cast<const std::uint16_t*>(data_),
           reinterpret_cast<float*>(values_.data()), covered_.size());
    } else {
      copy(pass.lane.launch(), {data_}, values_.data(), covered_.size() * sizeof(float));
    }
    sum_over_team(pass, values_.data(), covered_.size());
  }

  /// Element `first` of the flat layout.
  std::byte* at(std::size_t first) const { return values_.data() + (first - covered_.begin) * sizeof(float); }

  void scale(float scale) const { scale_in_place(pass_, values_.data(), covered_.size(), scale); }

  /// Rounded to the data's type and written over it.
  void write_back(Range range) const {
    std::byte* const target = data_ + (range.begin - covered_.begin) * size_of(type_);
    if (type_ == DType::BF16) {
      cast(pass_.lane.launch(), reinterpret_cast<const float*>(at(range.begin)),
           reinterpret_cast<std::uint16_t*>(target), range.size());
    } else {
      copy(pass_.lane.launch(), {at(range.begin)}, target, range.size() * sizeof(float));
    }
  }

 private:
  const Pass& pass_;
  Range covered_;
  std::byte* data_;  // the first element covered
  DType type_;
  Lane::Temporary values_;
};

}  // namespace

void library_accumulate(const Pass& pass, const Fold::Accumulate& request) {
  const Staging staging(pass, request.gradient, request.gradient_type);
  if (request.mirror) staging.scale(request.scale);
  const Range mine = pass.layout.shard(pass.members.index());
  AccumulatePass kernel = begin_pass(request, mine.size());
  kernel.type = DType::F32;
  if (request.mirror) kernel.scale = 1.0F;
  kernel.sources[0].base = staging.at(mine.begin);
  kernel.source_count = 1;
  kernel.accumulators[0].base = own_accumulator(pass, request, mine.begin);
  kernel.accumulator_count = 1;
  accumulate(pass.lane.launch(), kernel);
  if (request.mirror) staging.write_back(pass.layout.covered());
}

void library_reduce(const Pass& pass, const Fold::Reduce& request) {
  const Range mine = pass.layout.shard(pass.members.index());
  if (request.type == DType::F32 && pass.layout.shards() == 1) {
    std::byte* const values = request.data.as<std::byte>() + mine.begin * sizeof(float);
    sum_over_team(pass, values, mine.size());
    scale_in_place(pass, values, mine.size(), request.scale);
    return;
  }
  const Staging staging(pass, request.data, request.type);
  staging.scale(request.scale);
  staging.write_back(mine);
}

}  // namespace foldstep::cuda
