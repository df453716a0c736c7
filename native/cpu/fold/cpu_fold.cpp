#include "cpu/fold/cpu_fold.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "cpu/fold/element_passes.hpp"
#include "cpu/fold/paths.hpp"
#include "cpu/fold/peers.hpp"
#include "cpu/stream.hpp"

namespace foldstep::cpu {

namespace {

bool in_shared_memory(Path path) {
  return path == Path::Direct || path == Path::Owner;
}

void check_float(DType type) {
  if (type == DType::BF16 || type == DType::F32) return;
  throw Error(Code::InvalidDtype, "gradients are bfloat16 or float32, not " + std::string(name_of(type)));
}

Descriptor describe(Operation operation, Path path, DType type, const Geometry& geometry) {
  Descriptor descriptor;
  descriptor.operation = operation;
  descriptor.path = path;
  descriptor.type = type;
  descriptor.begin = geometry.begin;
  descriptor.end = geometry.end;
  descriptor.shard_length = geometry.shard_length;
  descriptor.replicas = geometry.replicas;
  return descriptor;
}

Announcement announcement_of(const Descriptor& d) {
  const auto facts = {static_cast<unsigned>(d.path), static_cast<unsigned>(d.type),
                      static_cast<unsigned>(d.accumulation), unsigned{d.mirror}, unsigned{d.sharded}};
  std::uint64_t packed = std::bit_cast<std::uint32_t>(d.scale);
  for (const unsigned fact : facts) packed = packed << 4 | fact;
  Announcement announcement = announce(name_of(d.operation), d.end - d.begin, packed, d.begin);
  announcement.detail[2] = d.shard_length;
  announcement.detail[3] = static_cast<std::uint64_t>(d.replicas);
  return announcement;
}

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
      members.communicator()->meet(announcement_of(descriptor), cancelled);
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
  check_float(request.gradient_type);
  Members members(team);
  const Layout layout(request.geometry, members.size());
  check_span(request.gradient, layout.extent(size_of(request.gradient_type)), "gradients");
  check_span(request.accumulator, accumulator_extent(layout, members.index(), request.sharded),
             "accumulators");

  Descriptor mine = describe(Operation::Accumulate, request.path, request.gradient_type, request.geometry);
  mine.accumulation = request.accumulation;
  mine.mirror = request.mirror;
  mine.sharded = request.sharded;
  mine.scale = request.scale;
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = members.window_offset(request.gradient, "gradients");
    if (request.path == Path::Owner && request.geometry.replicas > 1) {
      mine.accumulator_offset = members.window_offset(request.accumulator, "accumulators");
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
  check_float(request.type);
  Members members(team);
  const Layout layout(request.geometry, members.size());
  if (request.sharded && layout.shards() != 1) {
    throw Error(Code::InvalidArgument, "a sharded reduction is among the replicas of one shard, not over " +
                                           std::to_string(layout.shards()) + " shards");
  }
  check_span(request.data, layout.extent(size_of(request.type)), "data");

  Descriptor mine = describe(Operation::Reduce, request.path, request.type, request.geometry);
  mine.sharded = request.sharded;
  mine.scale = request.scale;
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = members.window_offset(request.data, "data");
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
  Members members(team);
  const Layout layout(request.geometry, members.size());
  if (request.geometry.replicas != 1) {
    throw Error(Code::InvalidArgument, "a gather is over shards without replicas, not with " +
                                           std::to_string(request.geometry.replicas));
  }
  check_span(request.data, layout.extent(size_of(request.type)), "data");

  Descriptor mine = describe(Operation::Gather, request.path, request.type, request.geometry);
  if (in_shared_memory(request.path) && members.size() > 1) {
    mine.data_offset = members.window_offset(request.data, "data");
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
