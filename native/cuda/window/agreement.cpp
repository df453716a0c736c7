#include "cuda/window/agreement.hpp"

#include <string>

namespace foldstep::cuda {

std::vector<Report> gather(StreamWorker& worker, CudaCommunicator& communicator, const Report& mine) {
  const auto members = static_cast<std::size_t>(communicator.size());
  std::vector<Report> all(members);
  Backend& host = *worker.context().host;
  const Span source{host.allocate(sizeof(Report)), 0};
  const Span target{host.allocate(members * sizeof(Report)), 0};
  source.memory->write(0, &mine, sizeof mine);
  worker.run_on_host([&](Stream& stream) {
    communicator.host().all_gather(stream, source, target, sizeof(Report), DType::U8);
  });
  target.memory->read(0, all.data(), members * sizeof(Report));
  return all;
}

void agree(const CudaCommunicator& communicator, const std::vector<Report>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].code == Report::success) continue;
    const int rank = communicator.world_ranks()[i];
    throw Agreed{Error(static_cast<Code>(all[i].code),
                       "rank " + std::to_string(rank) + ": " + all[i].text.data(), communicator.world_rank(),
                       rank)};
  }
}

std::vector<Report> exchange(StreamWorker& worker, CudaCommunicator& communicator, const Report& mine) {
  std::vector<Report> all = gather(worker, communicator, mine);
  agree(communicator, all);
  return all;
}

}  // namespace foldstep::cuda
