#include "cpu/fold/cpu_fold.hpp"

#include <utility>

#include "cpu/fold/element_passes.hpp"
#include "cpu/fold/paths.hpp"
#include "cpu/fold/peers.hpp"
#include "cpu/stream.hpp"

namespace foldstep::cpu {

namespace {

/// An operation as it waits on the stream.
struct Job {
  std::shared_ptr<Context> context;
  Members members;
  Layout layout;
  Descriptor descriptor;

  /// `here` in a team of one, else `shared` or `apart` once the members have met.
  template <typename Here, typename Shared, typename Apart>
  void run(const Cancelled& cancelled, const Here& here, const Shared& shared, const Apart& apart) const {
    const Pass pass{*context, members, layout, cancelled};
    if (members.size() == 1) return here(pass);
    members.meet(descriptor, cancelled, [&](Signals::Turn* turn) {
      if (in_shared_memory(descriptor.path)) return shared(pass, *turn);
      members.communicator()->meet(announce(descriptor), cancelled);
      apart(pass);
    });
  }
};

void accumulate_alone(const Pass& pass, const Fold::Accumulate& request) {
  const Range mine = pass.layout.covered();
  void* const gradient = request.gradient.as<std::byte>() + mine.begin * size_of(request.gradient_type);
  const void* const source = gradient;
  float* const accumulator = own_accumulator(pass, request, mine.begin);
  run(pass.context, AccumulateSlice{.sources = &source,
                                    .source_count = 1,
                                    .type = request.gradient_type,
                                    .accumulation = request.accumulation,
                                    .scale = request.scale,
                                    .accumulators = &accumulator,
                                    .accumulator_count = 1,
                                    .mirrors = &gradient,
                                    .mirror_count = request.mirror ? std::size_t{1} : 0,
                                    .n = mine.size()});
}

void reduce_alone(const Pass& pass, const Fold::Reduce& request) {
  const Range mine = pass.layout.covered();
  void* const data = request.data.as<std::byte>() + mine.begin * size_of(request.type);
  const void* const source = data;
  run(pass.context, ReduceSlice{.sources = &source,
                                .source_count = 1,
                                .type = request.type,
                                .scale = request.scale,
                                .targets = &data,
                                .target_count = 1,
                                .n = mine.size()});
}

}  // namespace

CpuFold::CpuFold(std::shared_ptr<Context> context) : context_(std::move(context)) {}

void CpuFold::accumulate(Stream& stream, const Team& team, const Accumulate& request) {
  const Layout layout = check_accumulate(team, request);
  Members members(team);
  Descriptor mine = describe(request);
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = window_offset(members.window(), request.gradient, "gradients");
    if (request.path == Path::Owner && request.geometry.replicas > 1) {
      mine.accumulator_offset = window_offset(members.window(), request.accumulator, "accumulators");
    }
  }
  CpuStream::of(stream).enqueue(
      [job = Job{context_, std::move(members), layout, mine}, request](const Cancelled& cancelled) {
        job.run(
            cancelled, [&](const Pass& pass) { accumulate_alone(pass, request); },
            [&](const Pass& pass, Signals::Turn& turn) {
              if (request.path == Path::Direct) {
                direct_accumulate(pass, turn, request);
              } else {
                owner_accumulate(pass, turn, request);
              }
            },
            [&](const Pass& pass) {
              if (request.path == Path::Exchange) {
                exchange_accumulate(pass, request);
              } else {
                library_accumulate(pass, request);
              }
            });
      });
}

void CpuFold::reduce(Stream& stream, const Team& team, const Reduce& request) {
  const Layout layout = check_reduce(team, request);
  Members members(team);
  Descriptor mine = describe(request);
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = window_offset(members.window(), request.data, "data");
  }
  CpuStream::of(stream).enqueue(
      [job = Job{context_, std::move(members), layout, mine}, request](const Cancelled& cancelled) {
        job.run(
            cancelled, [&](const Pass& pass) { reduce_alone(pass, request); },
            [&](const Pass& pass, Signals::Turn& turn) { owner_reduce(pass, turn, request); },
            [&](const Pass& pass) {
              if (request.path == Path::Exchange) {
                exchange_reduce(pass, request);
              } else {
                library_reduce(pass, request);
              }
            });
      });
}

void CpuFold::gather(Stream& stream, const Team& team, const Gather& request) {
  const Layout layout = check_gather(team, request);
  Members members(team);
  Descriptor mine = describe(request);
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = window_offset(members.window(), request.data, "data");
  }
  CpuStream::of(stream).enqueue(
      [job = Job{context_, std::move(members), layout, mine}, request](const Cancelled& cancelled) {
        job.run(
            cancelled, [](const Pass&) {},
            [&](const Pass& pass, Signals::Turn& turn) { pull_gather(pass, turn, request); },
            [&](const Pass& pass) { exchange_gather(pass, request); });
      });
}

}  // namespace foldstep::cpu
