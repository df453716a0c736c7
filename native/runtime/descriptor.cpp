#include "runtime/descriptor.hpp"

#include <sstream>

namespace foldstep {

namespace {

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

}  // namespace

Descriptor describe(const AccumulateRequest& request) {
  Descriptor mine = describe(Operation::Accumulate, request.path, request.gradient_type, request.geometry);
  mine.accumulation = request.accumulation;
  mine.mirror = request.mirror;
  mine.sharded = request.sharded;
  mine.scale = request.scale;
  return mine;
}

Descriptor describe(const ReduceRequest& request) {
  Descriptor mine = describe(Operation::Reduce, request.path, request.type, request.geometry);
  mine.sharded = request.sharded;
  mine.scale = request.scale;
  return mine;
}

Descriptor describe(const GatherRequest& request) {
  return describe(Operation::Gather, request.path, request.type, request.geometry);
}

std::string Descriptor::text() const {
  std::ostringstream out;
  out << "operation " << sequence << ": " << name_of(path) << ' ' << name_of(operation) << " of "
      << end - begin << " elements [" << begin << ", " << end << ") of " << name_of(type);
  if (operation != Operation::Gather) out << ", scale " << scale;
  out << ", " << replicas << " replicas of shards of " << shard_length;
  if (accumulation == Accumulation::BF16) out << ", added in bfloat16";
  if (mirror) out << ", mirrored";
  if (sharded) out << ", sharded accumulator";
  out << ", team " << std::hex << (team & 0xffff);
  return out.str();
}

}  // namespace foldstep
