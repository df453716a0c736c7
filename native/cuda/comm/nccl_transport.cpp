#include <algorithm>
#include <utility>

#include "cuda/comm/nccl.hpp"
#include "cuda/comm/nccl_group.hpp"
#include "cuda/kernels/kernels.hpp"
#include "runtime/error.hpp"
#include "runtime/range.hpp"

namespace foldstep::cuda {

namespace {

constexpr std::size_t width = size_of(DType::BF16);

ncclDataType_t type_of(DType type) {
  switch (type) {
    case DType::F64:
      return ncclFloat64;
    case DType::F32:
      return ncclFloat32;
    case DType::BF16:
      return ncclBfloat16;
    case DType::I32:
      return ncclInt32;
    case DType::U8:
      break;
  }
  return ncclUint8;
}

ncclRedOp_t operator_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::Max:
      return ncclMax;
    case ReduceOp::Min:
      return ncclMin;
    case ReduceOp::Sum:
      break;
  }
  return ncclSum;
}

/// NCCL's collectives in stream order, but for sums of BF16, which it would round at every hop.
class NcclTransport final : public Transport {
 public:
  explicit NcclTransport(std::shared_ptr<Communicator> host)
      : host_(std::move(host)), members_(host_->size()), self_(host_->rank()) {}

  void all_reduce(StreamWorker& worker, std::byte* data, std::size_t count, DType type,
                  ReduceOp op) override {
    if (type == DType::BF16 && op == ReduceOp::Sum) return sum_all(worker, data, count);
    group(worker).run(worker, "an all-reduce", [&](ncclComm_t communicator) {
      return nccl_.all_reduce(data, data, count, type_of(type), operator_of(op), communicator,
                              worker.stream());
    });
  }

  void reduce_scatter(StreamWorker& worker, const std::byte* source, std::byte* target, std::size_t count,
                      DType type, ReduceOp op) override {
    if (type == DType::BF16 && op == ReduceOp::Sum) return sum_scattered(worker, source, target, count);
    group(worker).run(worker, "a reduce-scatter", [&](ncclComm_t communicator) {
      return nccl_.reduce_scatter(source, target, count, type_of(type), operator_of(op), communicator,
                                  worker.stream());
    });
  }

  void all_gather(StreamWorker& worker, const std::byte* source, std::byte* target,
                  std::size_t bytes) override {
    group(worker).run(worker, "an all-gather", [&](ncclComm_t communicator) {
      return nccl_.all_gather(source, target, bytes, ncclUint8, communicator, worker.stream());
    });
  }

  void broadcast(StreamWorker& worker, std::byte* data, std::size_t bytes, int root) override {
    group(worker).run(worker, "a broadcast", [&](ncclComm_t communicator) {
      return nccl_.broadcast(data, data, bytes, ncclUint8, root, communicator, worker.stream());
    });
  }

  void exchange(StreamWorker& worker, const std::vector<Message>& sends,
                const std::vector<Message>& receives) override {
    group(worker).run(worker, "an exchange", [&](ncclComm_t communicator) {
      ncclResult_t result = ncclSuccess;
      const auto each = [&](const std::vector<Message>& messages, const auto& enqueue) {
        for (const Message& message : messages) {
          if (message.bytes == 0 || (result != ncclSuccess && result != ncclInProgress)) continue;
          result =
              enqueue(message.data, message.bytes, ncclUint8, message.peer, communicator, worker.stream());
        }
      };
      each(sends, nccl_.send);
      each(receives, nccl_.receive);
      return result;
    });
  }

  void look_after(StreamWorker& worker) override {
    if (group_) group_->look_after(worker);
  }
  bool staged() const override { return false; }

 private:
  NcclGroup& group(StreamWorker& worker) {
    if (!group_) group_ = NcclGroup::create(worker, *host_);
    worker.keep(group_);
    return *group_;
  }

  /// target = the sum of the members' rows of n values, of which this rank's is at `own`, the others' in
  /// `rows`, in the order of the members.
  void sum_rows(StreamWorker& worker, std::byte* own, std::byte* rows, std::byte* target,
                std::size_t n) const {
    ReducePass pass;
    for (int m = 0; m < members_; ++m) {
      pass.sources[m].base = m == self_ ? own : rows + row_of(m) * n * width;
    }
    pass.source_count = members_;
    pass.targets[0].base = target;
    pass.target_count = 1;
    pass.type = DType::BF16;
    pass.n = n;
    reduce(worker.launch(), pass);
  }
  std::size_t row_of(int member) const {
    return static_cast<std::size_t>(member < self_ ? member : member - 1);
  }

  /// Values of one member's part that fit into a temporary which is kept.
  std::size_t chunk() const {
    return std::max<std::size_t>(StreamWorker::kept_bytes / width / static_cast<std::size_t>(members_ - 1),
                                 1);
  }

  void sum_all(StreamWorker& worker, std::byte* data, std::size_t count) {
    const auto members = static_cast<std::size_t>(members_);
    const Range all{0, count};
    const std::size_t longest = std::min(chunk(), (count + members - 1) / members);
    const std::size_t step = std::max<std::size_t>(longest * members, 1);
    const StreamWorker::Temporary rows = worker.take(longest * (members - 1) * width);
    for (std::size_t k = 0; all.chunk(k, step).size() > 0; ++k) {
      const Range now = all.chunk(k, step);
      const auto part = [&](int m) {
        const std::size_t length = (now.size() + members - 1) / members;
        return now.chunk(static_cast<std::size_t>(m), length);
      };
      const auto at = [&](const Range& range) { return data + range.begin * width; };
      const Range mine = part(self_);
      std::vector<Message> out;
      std::vector<Message> in;
      for_each_peer([&](int m) {
        out.push_back({m, at(part(m)), part(m).size() * width});
        in.push_back({m, rows.data() + row_of(m) * mine.size() * width, mine.size() * width});
      });
      exchange(worker, out, in);
      sum_rows(worker, at(mine), rows.data(), at(mine), mine.size());
      out.clear();
      in.clear();
      for_each_peer([&](int m) {
        out.push_back({m, at(mine), mine.size() * width});
        in.push_back({m, at(part(m)), part(m).size() * width});
      });
      exchange(worker, out, in);
    }
  }

  void sum_scattered(StreamWorker& worker, const std::byte* source, std::byte* target, std::size_t count) {
    auto* const data = const_cast<std::byte*>(source);  // messages go both ways; these are only sent
    const StreamWorker::Temporary rows =
        worker.take(std::min(chunk(), count) * static_cast<std::size_t>(members_ - 1) * width);
    for (std::size_t k = 0; Range{0, count}.chunk(k, chunk()).size() > 0; ++k) {
      const Range now = Range{0, count}.chunk(k, chunk());
      const auto at = [&](int m) { return data + (static_cast<std::size_t>(m) * count + now.begin) * width; };
      std::vector<Message> out;
      std::vector<Message> in;
      for_each_peer([&](int m) {
        out.push_back({m, at(m), now.size() * width});
        in.push_back({m, rows.data() + row_of(m) * now.size() * width, now.size() * width});
      });
      exchange(worker, out, in);
      sum_rows(worker, at(self_), rows.data(), target + now.begin * width, now.size());
    }
  }

  template <typename Visit>
  void for_each_peer(const Visit& visit) const {
    for (int m = 0; m < members_; ++m) {
      if (m != self_) visit(m);
    }
  }

  std::shared_ptr<Communicator> host_;
  int members_;
  int self_;
  const NcclLibrary& nccl_ = NcclLibrary::get();
  std::shared_ptr<NcclGroup> group_;
};

}  // namespace

NcclPresence find_nccl() {
  const NcclLibrary& nccl = NcclLibrary::get();
  if (!nccl.loaded) {
    return {0,
            "not found: " + nccl.file +
                "; run `node scripts/get-nccl.mjs`, or install libnccl2, or name the file in FOLDSTEP_NCCL"};
  }
  const int v = nccl.version;
  return {v, std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100) +
                 " (" + nccl.file + ")"};
}

std::unique_ptr<Transport> create_nccl_transport(std::shared_ptr<Communicator> host) {
  return std::make_unique<NcclTransport>(std::move(host));
}

}  // namespace foldstep::cuda
