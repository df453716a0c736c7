#include "fold/paths.hpp"

namespace foldstep::fold {

namespace {

void scale_in_place(const Pass& pass, std::byte* values, std::size_t count, float scale) {
  SumIntoTargets sum;
  sum.sources = {{values}};
  sum.targets = sum.sources;
  sum.scale = scale;
  sum.n = count;
  pass.operations.sum_into_targets(sum);
}

/// An FP32 copy of everything covered, summed over the team.
class Staging {
 public:
  Staging(const Pass& pass, const Span& data, DType type)
      : pass_(pass),
        covered_(pass.layout.covered()),
        data_(place_of(data, covered_.begin, type).base),
        type_(type),
        values_(pass.operations.temporary(covered_.size() * sizeof(float))) {
    if (type == DType::BF16) {
      pass.operations.cast(data_, DType::BF16, values_.data, covered_.size());
    } else {
      pass.operations.copy({data_}, values_.data, covered_.size() * sizeof(float));
    }
    if (covered_.size() > 0) pass.operations.all_reduce(values_.data, covered_.size(), values_.owner);
  }

  /// Element `first` of the flat layout.
  std::byte* at(std::size_t first) const { return values_.data + (first - covered_.begin) * sizeof(float); }

  void scale(float scale) const { scale_in_place(pass_, values_.data, covered_.size(), scale); }

  /// Rounded to the data's type and written over it.
  void write_back(Range range) const {
    std::byte* const target = data_ + (range.begin - covered_.begin) * size_of(type_);
    if (type_ == DType::BF16) {
      pass_.operations.cast(at(range.begin), DType::F32, target, range.size());
    } else {
      pass_.operations.copy({at(range.begin)}, target, range.size() * sizeof(float));
    }
  }

 private:
  const Pass& pass_;
  Range covered_;
  std::byte* data_;  // the first element covered
  DType type_;
  Temporary values_;
};

}  // namespace

void library_accumulate(const Pass& pass, const AccumulateRequest& request) {
  const Staging staging(pass, request.gradient, request.gradient_type);
  if (request.mirror) staging.scale(request.scale);
  const Range mine = pass.shard();
  SumIntoAccumulators sum = sum_of(request, mine.size());
  sum.sources = {{staging.at(mine.begin)}};
  sum.accumulators = {own_accumulator(pass, request, mine.begin)};
  sum.type = DType::F32;
  if (request.mirror) sum.scale = 1.0F;
  pass.operations.sum_into_accumulators(sum);
  if (request.mirror) staging.write_back(pass.layout.covered());
}

void library_reduce(const Pass& pass, const ReduceRequest& request) {
  const Range mine = pass.shard();
  if (request.type == DType::F32 && pass.layout.shards() == 1) {
    std::byte* const values = place_of(request.data, mine.begin, DType::F32).base;
    if (mine.size() > 0) pass.operations.all_reduce(values, mine.size(), request.data.memory);
    scale_in_place(pass, values, mine.size(), request.scale);
    return;
  }
  const Staging staging(pass, request.data, request.type);
  staging.scale(request.scale);
  staging.write_back(mine);
}

}  // namespace foldstep::fold
