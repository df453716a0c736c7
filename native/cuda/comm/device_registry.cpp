#include "cuda/comm/device_registry.hpp"

#include <algorithm>
#include <cstring>
#include <future>

#include "cuda/comm/nccl.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

bool same(const cudaUUID_t& a, const cudaUUID_t& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void wait(Stream& stream) {
  const auto passed = std::make_shared<std::promise<std::exception_ptr>>();
  stream.notify([passed](std::exception_ptr error) { passed->set_value(std::move(error)); });
  if (const std::exception_ptr error = passed->get_future().get()) std::rethrow_exception(error);
}

}  // namespace

std::shared_ptr<const DeviceRegistry> DeviceRegistry::gather(Context& context, Communicator& world) {
  const auto ranks = static_cast<std::size_t>(world.size());
  Entry mine;
  mine.device = context.properties.uuid;
  // Looked for only where it may be used.
  if (context.collectives != Collectives::Host && ranks > 1) mine.nccl_version = find_nccl().version;
  mine.wish = context.collectives;

  const Span source{context.host->allocate(sizeof(Entry)), 0};
  const Span target{context.host->allocate(ranks * sizeof(Entry)), 0};
  source.memory->write(0, &mine, sizeof mine);
  const std::shared_ptr<Stream> stream = context.host->create_stream();
  world.all_gather(*stream, source, target, sizeof(Entry), DType::U8);
  wait(*stream);

  const auto registry = std::make_shared<DeviceRegistry>();
  registry->entries_.resize(ranks);
  target.memory->read(0, registry->entries_.data(), ranks * sizeof(Entry));
  registry->require_one_wish();
  if (mine.wish == Collectives::Nccl && ranks > 1) {
    registry->require_own_devices();
    registry->require_nccl();
  }
  return registry;
}

bool DeviceRegistry::nccl_serves(const std::vector<int>& world_ranks) const {
  if (world_ranks.size() < 2) return false;
  for (std::size_t i = 0; i < world_ranks.size(); ++i) {
    const Entry& entry = entries_[static_cast<std::size_t>(world_ranks[i])];
    // NCCL libraries with the same version number work together. Those with different numbers may not.
    const Entry& first = entries_[static_cast<std::size_t>(world_ranks[0])];
    if (entry.nccl_version == 0 || entry.nccl_version != first.nccl_version) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (same(entry.device, entries_[static_cast<std::size_t>(world_ranks[j])].device)) return false;
    }
  }
  return true;
}

void DeviceRegistry::require_one_wish() const {
  for (std::size_t rank = 1; rank < entries_.size(); ++rank) {
    if (entries_[rank].wish == entries_[0].wish) continue;
    throw Error(Code::OperationMismatch,
                "rank 0 asks for collectives '" + std::string(name_of(entries_[0].wish)) + "' and rank " +
                    std::to_string(rank) + " for '" + std::string(name_of(entries_[rank].wish)) +
                    "'; every rank must ask for the same",
                -1, static_cast<int>(rank));
  }
}

void DeviceRegistry::require_own_devices() const {
  for (std::size_t rank = 1; rank < entries_.size(); ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      if (!same(entries_[rank].device, entries_[other].device)) continue;
      throw Error(Code::DeviceShared,
                  "ranks " + std::to_string(other) + " and " + std::to_string(rank) +
                      " compute on one device, " + uuid_text(entries_[rank].device) +
                      ", but NCCL needs one for each; start as many ranks as there are devices, or take the "
                      "collectives 'host' or 'auto'",
                  -1, static_cast<int>(rank));
    }
  }
}

void DeviceRegistry::require_nccl() const {
  for (std::size_t rank = 0; rank < entries_.size(); ++rank) {
    const int version = entries_[rank].nccl_version;
    if (version != 0 && version == entries_[0].nccl_version) continue;
    throw Error(Code::NcclFailed,
                version == 0 ? "rank " + std::to_string(rank) + " has no NCCL; `foldstep doctor` says why"
                             : "rank " + std::to_string(rank) + " has NCCL " + std::to_string(version) +
                                   " and rank 0 has " + std::to_string(entries_[0].nccl_version) +
                                   "; install the same on all hosts",
                -1, static_cast<int>(rank));
  }
}

}  // namespace foldstep::cuda
