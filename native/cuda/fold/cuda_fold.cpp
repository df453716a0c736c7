#include "cuda/fold/cuda_fold.hpp"

#include <utility>

#include "cuda/fold/paths.hpp"
#include "cuda/fold/places.hpp"
#include "cuda/stream/cuda_stream.hpp"

namespace foldstep::cuda {

namespace {

/// An operation as it waits on the stream.
struct Job {
  Members members;
  Layout layout;
  Descriptor descriptor;

  /// `here` in a team of one, else `shared` or `apart` behind a meeting of the members.
  template <typename Here, typename Shared, typename Apart>
  void run(Lane& lane, const Here& here, const Shared& shared, const Apart& apart) const {
    const Pass pass{lane, members, layout};
    if (members.size() == 1) return here(pass);
    members.meet(lane, descriptor, [&](CudaWindow::Turn* turn) {
      if (in_shared_memory(descriptor.path)) return shared(pass, *turn);
      // A member that is about to do something else in the window does not come to the communicator.
      if (turn != nullptr) lane.finish();
      members.communicator().operate(lane, announce(descriptor), [&] { apart(pass); });
    });
  }
};

void accumulate_alone(const Pass& pass, const Fold::Accumulate& request) {
  const Range mine = pass.layout.covered();
  AccumulatePass kernel = begin_pass(request, mine.size());
  kernel.sources[0].base = request.gradient.as<std::byte>() + mine.begin * size_of(request.gradient_type);
  kernel.source_count = 1;
  kernel.accumulators[0].base = own_accumulator(pass, request, mine.begin);
  kernel.accumulator_count = 1;
  kernel.mirrors[0] = kernel.sources[0];
  kernel.mirror_count = request.mirror ? 1 : 0;
  accumulate(pass.lane.launch(), kernel);
}

void reduce_alone(const Pass& pass, const Fold::Reduce& request) {
  const Range mine = pass.layout.covered();
  ReducePass kernel = begin_pass(request.type, request.scale, mine.size());
  kernel.sources[0].base = request.data.as<std::byte>() + mine.begin * size_of(request.type);
  kernel.source_count = 1;
  kernel.targets[0] = kernel.sources[0];
  kernel.target_count = 1;
  reduce(pass.lane.launch(), kernel);
}

}  // namespace

void CudaFold::accumulate(Stream& stream, const Team& team, const Accumulate& request) {
  const Layout layout = check_accumulate(team, request);
  Members members(team);
  Descriptor mine = describe(request);
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = window_offset(members.window(), request.gradient, "gradients");
    if (request.path == Path::Owner && request.geometry.replicas > 1) {
      mine.accumulator_offset = window_offset(members.window(), request.accumulator, "accumulators");
    }
  }
  CudaStream::of(stream).enqueue([job = Job{std::move(members), layout, mine}, request](Lane& lane) {
    job.run(
        lane, [&](const Pass& pass) { accumulate_alone(pass, request); },
        [&](const Pass& pass, CudaWindow::Turn& turn) {
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

void CudaFold::reduce(Stream& stream, const Team& team, const Reduce& request) {
  const Layout layout = check_reduce(team, request);
  Members members(team);
  Descriptor mine = describe(request);
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = window_offset(members.window(), request.data, "data");
  }
  CudaStream::of(stream).enqueue([job = Job{std::move(members), layout, mine}, request](Lane& lane) {
    job.run(
        lane, [&](const Pass& pass) { reduce_alone(pass, request); },
        [&](const Pass& pass, CudaWindow::Turn& turn) { owner_reduce(pass, turn, request); },
        [&](const Pass& pass) {
          if (request.path == Path::Exchange) {
            exchange_reduce(pass, request);
          } else {
            library_reduce(pass, request);
          }
        });
  });
}

void CudaFold::gather(Stream& stream, const Team& team, const Gather& request) {
  const Layout layout = check_gather(team, request);
  Members members(team);
  Descriptor mine = describe(request);
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = window_offset(members.window(), request.data, "data");
  }
  CudaStream::of(stream).enqueue([job = Job{std::move(members), layout, mine}, request](Lane& lane) {
    job.run(
        lane, [](const Pass&) {},
        [&](const Pass& pass, CudaWindow::Turn& turn) { pull_gather(pass, turn, request); },
        [&](const Pass& pass) { exchange_gather(pass, request); });
  });
}

}  // namespace foldstep::cuda
