#include "cuda/stream/plan_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "numerics/norm.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

std::uint32_t counted(std::size_t entries) {
  if (entries <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(entries);
  throw Error(Code::InvalidLength, "a plan is too long for one pass on a device");
}

template <typename Entry>
std::shared_ptr<DeviceMemory> upload(const std::shared_ptr<Context>& context,
                                     const std::vector<Entry>& entries) {
  auto memory = DeviceMemory::allocate(context, entries.size() * sizeof(Entry));
  memory->write(0, entries.data(), entries.size() * sizeof(Entry));
  return memory;
}

PlanCache::Norm upload(const std::shared_ptr<Context>& context, const NormPlan& plan) {
  std::vector<NormBlock> blocks;
  for (const NormSegment& segment : plan.segments) {
    for (std::size_t begin = 0; begin < segment.length; begin += numerics::norm_block_size) {
      const std::size_t length = std::min(numerics::norm_block_size, segment.length - begin);
      blocks.push_back({segment.offset + begin, static_cast<std::uint32_t>(length), segment.group,
                        segment.parameter, segment.counted ? 1U : 0U});
    }
  }
  struct Memory {
    std::shared_ptr<DeviceMemory> blocks;
    std::shared_ptr<DeviceMemory> results;
  };
  const auto memory = std::make_shared<Memory>();
  memory->blocks = upload(context, blocks);
  memory->results = DeviceMemory::allocate(context, blocks.size() * sizeof(NormBlockResult));
  return {{reinterpret_cast<const NormBlock*>(memory->blocks->data()),
           reinterpret_cast<NormBlockResult*>(memory->results->data()), counted(blocks.size()), plan.groups},
          memory};
}

/// Calls `tile(begin, length)` on runs that cover `length` elements.
template <typename Tile>
void for_tiles(std::size_t length, const Tile& tile) {
  for (std::size_t begin = 0; begin < length; begin += update_tile) {
    tile(begin, static_cast<std::uint32_t>(std::min<std::size_t>(update_tile, length - begin)));
  }
}

PlanCache::Update upload(const std::shared_ptr<Context>& context, const UpdatePlan& plan) {
  std::vector<UpdateTile> tiles;
  for (const UpdateSegment& segment : plan.segments) {
    for_tiles(segment.length, [&](std::size_t begin, std::uint32_t length) {
      tiles.push_back({segment.master + begin, segment.accumulator + begin, segment.weight + begin, length,
                       segment.group});
    });
  }
  for (const UpdatePlan::Clear& run : plan.clears) {
    for_tiles(run.length, [&](std::size_t begin, std::uint32_t length) {
      tiles.push_back({0, run.offset + begin, 0, length, only_clear});
    });
  }
  const auto memory = upload(context, tiles);
  return {{reinterpret_cast<const UpdateTile*>(memory->data()), counted(tiles.size()), plan.groups}, memory};
}

template <typename Known, typename Plan>
auto find_or_upload(Known& known, const std::shared_ptr<Context>& context,
                    const std::shared_ptr<const Plan>& plan) {
  for (const auto& [key, uploaded] : known) {
    if (key.lock() == plan) return uploaded;
  }
  std::erase_if(known, [](const auto& entry) { return entry.first.expired(); });
  known.emplace_back(plan, upload(context, *plan));
  return known.back().second;
}

}  // namespace

PlanCache::Norm PlanCache::norm(const std::shared_ptr<Context>& context,
                                const std::shared_ptr<const NormPlan>& plan) {
  return find_or_upload(norms_, context, plan);
}

PlanCache::Update PlanCache::update(const std::shared_ptr<Context>& context,
                                    const std::shared_ptr<const UpdatePlan>& plan) {
  return find_or_upload(updates_, context, plan);
}

PlanCache::Numbers PlanCache::numbers(const std::shared_ptr<Context>& context,
                                      const std::vector<double>& values) {
  if (values.empty()) return {};
  if (values != last_numbers_) {
    const auto memory = upload(context, values);
    uploaded_numbers_ = {reinterpret_cast<const double*>(memory->data()), memory};
    last_numbers_ = values;
  }
  return uploaded_numbers_;
}

}  // namespace foldstep::cuda
