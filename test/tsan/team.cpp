#include "team.hpp"

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "cuda/kernels/launch.cuh"
#include "cuda/kernels/places.cuh"
#include "fault.hpp"

namespace foldstep::tsan {

namespace {

struct SumPass {
  Place sources[cuda::max_members];
  int count;
  std::uint32_t* sums;
  std::size_t words;
  bool atomic;
};

FOLDSTEP_KERNEL(cuda::block_threads, cuda::resident_blocks)
sum_kernel(FOLDSTEP_PARAMETER SumPass pass, const cuda::Status* status) {
  if (cuda::has_failed(status)) return;
  for (std::size_t w = cuda::thread_index(); w < pass.words; w += threads_run) {
    std::uint32_t sum = 0;
    for (int m = 0; m < pass.count; ++m) {
      const auto* const source =
          reinterpret_cast<const std::uint32_t*>(cuda::address_of(pass.sources[m])) + w;
      sum += pass.atomic ? cuda::load_relaxed_system(source) : *source;
    }
    pass.sums[w] = sum;
  }
}

std::uint32_t value_of(std::uint32_t operation, int rank, std::size_t word) {
  return operation * 1'000'003U + static_cast<std::uint32_t>(rank) * 10'007U +
         static_cast<std::uint32_t>(word);
}

}  // namespace

Team::Team(const Options& options) : options_(options) {
  for (int r = 0; r < options.ranks; ++r) ranks_.emplace_back(new Rank(*this, r));
}

Team::Rank::Rank(Team& team, int self)
    : team_(team),
      self_(self),
      random_(static_cast<unsigned>(team.options_.seed * cuda::max_members + self)) {}

cuda::Status Team::Rank::run_operation(float scale) {
  write_data();
  Descriptor mine;
  mine.sequence = operation_;
  mine.scale = scale;
  mine.data_offset = offset_;

  reach(Moment::BeforeEntry);
  meet(true, mine);
  reach(Moment::BeforePass);
  pass();
  reach(Moment::BeforeExit);
  if (fault != Fault::NoExit) meet(false, mine);
  if (status_.failed == 0) check_sums();
  // As a host does before it knows what it said.
  return std::exchange(status_, {});
}

void Team::Rank::write_data() {
  ++operation_;
  // Not always in the same place, so that what was announced before is of no use.
  offset_ = random_() % 2 * words * sizeof(std::uint32_t);
  for (std::size_t w = 0; w < words; ++w) {
    const std::uint32_t value = value_of(operation_, self_, w);
    if (team_.options_.goes_on_after_failure) {
      cuda::store_relaxed_system(data() + w, value);
    } else {
      data()[w] = value;
    }
  }
}

void Team::Rank::delay(Moment moment, std::chrono::microseconds time) {
  delays_[static_cast<std::size_t>(moment)] = time;
}

void Team::Rank::reach(Moment moment) {
  auto time = std::exchange(delays_[static_cast<std::size_t>(moment)], {});
  if (time.count() == 0 && random_() % 8 == 0) time = std::chrono::microseconds(random_() % 100);
  if (time.count() != 0) std::this_thread::sleep_for(time);
}

void Team::Rank::meet(bool announces, const Descriptor& mine) {
  cuda::Meeting meeting{};
  meeting.count = team_.size();
  meeting.self = self_;
  for (int m = 0; m < team_.size(); ++m) {
    meeting.pads[m] = &team_[m].pad_;
    meeting.places[m] = static_cast<std::uint32_t>(m);
  }
  meeting.epoch = ++epoch_;
  meeting.announces = announces;
  meeting.mine = mine;
  meeting.deadline_nanoseconds = team_.options_.deadline_nanoseconds;
  meeting.status = &status_;
  cuda::meet(launch(), meeting);
}

void Team::Rank::pass() {
  SumPass pass{.sources = {},
               .count = team_.size(),
               .sums = sums_.data(),
               .words = words,
               .atomic = team_.options_.goes_on_after_failure};
  for (int m = 0; m < team_.size(); ++m) {
    pass.sources[m].base = reinterpret_cast<std::byte*>(team_[m].slab_.data());
    pass.sources[m].offset = m == self_ ? &offset_ : &pad_.slots[0][m].descriptor.data_offset;
  }
  cuda::start_or_throw("sum", sum_kernel, launch(), 1, pass);
}

void Team::Rank::check_sums() const {
  for (std::size_t w = 0; w < words; ++w) {
    std::uint32_t expected = 0;
    for (int m = 0; m < team_.size(); ++m) expected += value_of(operation_, m, w);
    if (sums_[w] == expected) continue;
    throw std::runtime_error("rank " + std::to_string(self_) + " succeeded in operation " +
                             std::to_string(operation_) + " with a wrong sum");
  }
}

std::uint32_t* Team::Rank::data() {
  return slab_.data() + offset_ / sizeof(std::uint32_t);
}

}  // namespace foldstep::tsan
