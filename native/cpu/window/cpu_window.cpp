#include "cpu/window/cpu_window.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "cpu/host_memory.hpp"
#include "cpu/window/shared_memory.hpp"
#include "runtime/step_report.hpp"

namespace foldstep::cpu {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t header_bytes = (sizeof(SignalBlock) + page - 1) / page * page;

/// What a slab's owner sees: the block without its signal words.
class Slab final : public Memory {
 public:
  explicit Slab(std::shared_ptr<Memory> block) : block_(std::move(block)) {}
  std::byte* data() const override { return block_->data() + header_bytes; }
  std::size_t bytes() const override { return block_->bytes() - header_bytes; }

 private:
  std::shared_ptr<Memory> block_;
};

/// How one step of the creation went on one member.
struct Report : StepReport {
  SegmentAddress segment;
  ProcessIdentity process;
};

/// Every member's report. Throws the first failure that is in them, the same on every member.
std::vector<Report> exchange(CpuCommunicator& communicator, const Report& mine, const Cancelled& cancelled) {
  struct Buffers {
    Report mine;
    std::vector<Report> all;
  };
  const auto buffers = std::make_shared<Buffers>(
      Buffers{mine, std::vector<Report>(static_cast<std::size_t>(communicator.size()))});
  communicator.wait(communicator.transport().all_gather(&buffers->mine, buffers->all.data(), sizeof(Report)),
                    cancelled, buffers);
  for (std::size_t i = 0; i < buffers->all.size(); ++i) {
    const Report& report = buffers->all[i];
    if (report.code == Report::success) continue;
    const std::vector<int>& ranks = communicator.world_ranks();
    throw Error(static_cast<Code>(report.code),
                "rank " + std::to_string(ranks[i]) + ": " + report.text.data(),
                ranks[static_cast<std::size_t>(communicator.rank())], ranks[i]);
  }
  return buffers->all;
}

SignalBlock* signals_of(const Memory& block) {
  return std::launder(reinterpret_cast<SignalBlock*>(block.data()));
}

std::vector<Signals::Peer> peers_of(const std::vector<std::shared_ptr<Memory>>& blocks,
                                    const std::vector<ProcessIdentity>& processes,
                                    const std::vector<int>& world_ranks) {
  std::vector<Signals::Peer> peers(blocks.size());
  for (std::size_t i = 0; i < peers.size(); ++i)
    peers[i] = {signals_of(*blocks[i]), processes[i], world_ranks[i]};
  return peers;
}

}  // namespace

std::shared_ptr<CpuWindow> CpuWindow::create(std::shared_ptr<Context> context, CpuCommunicator& communicator,
                                             std::size_t bytes, const Cancelled& cancelled) {
  if (bytes > std::numeric_limits<std::int64_t>::max() - header_bytes) {
    throw Error(Code::InvalidLength, "a window of " + std::to_string(bytes) + " bytes cannot be mapped");
  }
  const std::vector<int>& ranks = communicator.world_ranks();
  const int self = communicator.rank();
  std::vector<std::shared_ptr<Memory>> blocks(ranks.size());
  std::vector<ProcessIdentity> processes(ranks.size(), ProcessIdentity::self());
  if (ranks.size() == 1) {
    blocks[0] = std::make_shared<HostMemory>(block_bytes(bytes));
    prepare(*blocks[0]);
    return std::make_shared<CpuWindow>(std::move(context), std::move(blocks), processes, ranks, self);
  }

  communicator.meet(announce("create-window", bytes), cancelled);
  std::shared_ptr<SharedSegment> own;
  const Report made = report_of<Report>([&](Report& report) {
    own = SharedSegment::create(block_bytes(bytes));
    prepare(*own);
    report.segment = own->address();
    report.process = ProcessIdentity::self();
  });
  const std::vector<Report> all = exchange(communicator, made, cancelled);

  const Report mapped = report_of<Report>([&](Report&) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      processes[i] = all[i].process;
      if (static_cast<int>(i) == self) {
        blocks[i] = own;
      } else {
        blocks[i] = SharedSegment::attach(all[i].segment);
      }
    }
  });
  exchange(communicator, mapped, cancelled);
  own->close_descriptor();
  return std::make_shared<CpuWindow>(std::move(context), std::move(blocks), processes, ranks, self);
}

std::size_t CpuWindow::block_bytes(std::size_t bytes) {
  return header_bytes + bytes;
}

void CpuWindow::prepare(Memory& block) {
  new (block.data()) SignalBlock;
}

CpuWindow::CpuWindow(std::shared_ptr<Context> context, std::vector<std::shared_ptr<Memory>> blocks,
                     const std::vector<ProcessIdentity>& processes, std::vector<int> world_ranks, int self)
    : blocks_(std::move(blocks)),
      world_ranks_(std::move(world_ranks)),
      slab_(std::make_shared<Slab>(blocks_[static_cast<std::size_t>(self)])),
      signals_(std::move(context), peers_of(blocks_, processes, world_ranks_), self) {}

std::byte* CpuWindow::data(int member) const {
  return blocks_[static_cast<std::size_t>(member)]->data() + header_bytes;
}

}  // namespace foldstep::cpu
