#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/fold/element_passes.hpp"
#include "cpu/fold/paths.hpp"
#include "cpu/fold/peers.hpp"

namespace foldstep::cpu {

namespace {

/// In the order that MPI chooses.
void sum_over_team(const Pass& pass, float* values, std::size_t count, std::shared_ptr<const void> owner) {
  if (count == 0) return;
  CpuCommunicator& communicator = *pass.members.communicator();
  communicator.wait(communicator.transport().all_reduce(values, count, DType::F32, ReduceOp::Sum),
                    pass.cancelled, std::move(owner));
}

void scale_in_place(const Pass& pass, float* values, std::size_t count, float scale) {
  void* const target = values;
  const void* const source = values;
  run(pass.context, ReduceSlice{.sources = &source,
                                .source_count = 1,
                                .type = DType::F32,
                                .scale = scale,
                                .targets = &target,
                                .target_count = 1,
                                .n = count});
}

/// An FP32 copy of everything covered, summed over the team.
class Staging {
 public:
  Staging(const Pass& pass, const Span& data, DType type)
      : pass_(pass),
        covered_(pass.layout.covered()),
        data_(data.as<std::byte>() + covered_.begin * size_of(type)),
        type_(type),
        temporaries_(pass.context.ledger, covered_.size() * sizeof(float)),
        block_(pass.context.scratch.take(covered_.size() * sizeof(float))),
        values_(reinterpret_cast<float*>(block_.get())) {
    if (type == DType::BF16) {
      run_cast(pass.context, reinterpret_cast<const std::uint16_t*>(data_), values_, covered_.size());
    } else {
      run_copy(pass.context, data_, values_, covered_.size() * sizeof(float));
    }
    sum_over_team(pass, values_, covered_.size(), block_);
  }

  /// Element `first` of the flat layout.
  float* at(std::size_t first) const { return values_ + (first - covered_.begin); }

  void scale(float scale) const { scale_in_place(pass_, values_, covered_.size(), scale); }

  /// Rounded to the data's type and written over it.
  void write_back(Range range) const {
    std::byte* const target = data_ + (range.begin - covered_.begin) * size_of(type_);
    if (type_ == DType::BF16) {
      run_cast(pass_.context, at(range.begin), reinterpret_cast<std::uint16_t*>(target), range.size());
    } else {
      run_copy(pass_.context, at(range.begin), target, range.size() * sizeof(float));
    }
  }

 private:
  const Pass& pass_;
  Range covered_;
  std::byte* data_;  // the first element covered
  DType type_;
  Ledger::Entry temporaries_;
  std::shared_ptr<std::byte[]> block_;
  float* values_;
};

}  // namespace

void library_accumulate(const Pass& pass, const Fold::Accumulate& request) {
  const Staging staging(pass, request.gradient, request.gradient_type);
  if (request.mirror) staging.scale(request.scale);
  const Range mine = pass.layout.shard(pass.members.index());
  const void* const source = staging.at(mine.begin);
  float* const accumulator = own_accumulator(pass, request, mine.begin);
  run(pass.context, AccumulateSlice{.sources = &source,
                                    .source_count = 1,
                                    .type = DType::F32,
                                    .accumulation = request.accumulation,
                                    .scale = request.mirror ? 1.0F : request.scale,
                                    .accumulators = &accumulator,
                                    .accumulator_count = 1,
                                    .n = mine.size()});
  if (request.mirror) staging.write_back(pass.layout.covered());
}

void library_reduce(const Pass& pass, const Fold::Reduce& request) {
  const Range mine = pass.layout.shard(pass.members.index());
  if (request.type == DType::F32 && pass.layout.shards() == 1) {
    float* const values = request.data.as<float>() + mine.begin;
    sum_over_team(pass, values, mine.size(), request.data.memory);
    scale_in_place(pass, values, mine.size(), request.scale);
    return;
  }
  const Staging staging(pass, request.data, request.type);
  staging.scale(request.scale);
  staging.write_back(mine);
}

}  // namespace foldstep::cpu
