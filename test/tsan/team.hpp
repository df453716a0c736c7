#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "cuda/device/device.cuh"
#include "cuda/kernels/kernels.hpp"

namespace foldstep::tsan {

/// Where in an operation a rank may be kept back.
enum class Moment { BeforeEntry, BeforePass, BeforeExit };
constexpr int moments = 3;

/// Ranks that run operations as native/cuda/window and native/fold have them: the caller writes its
/// data, the ranks meet, each reads the data of all, the ranks meet.
class Team {
 public:
  struct Options {
    int ranks = 2;
    int seed = 0;
    std::uint64_t deadline_nanoseconds = 60'000'000'000;
    /// Whether ranks go on after a failure, and so write what others may still be reading, which is no fault
    /// if these fail too: the data is then read and written as atomic words.
    bool goes_on_after_failure = false;
  };
  explicit Team(const Options& options);

  /// What one rank does on a thread of its own.
  class Rank {
   public:
    /// Does the next operation, and announces `scale`. Gives what its stream's status says in the end; throws
    /// if it has succeeded with wrong sums.
    cuda::Status run_operation(float scale);
    /// Writes the data as before an operation.
    void write_data();
    /// Keeps the rank back, once, in the operation that it does next.
    void delay(Moment moment, std::chrono::microseconds time);

   private:
    friend class Team;
    static constexpr std::size_t words = 32;

    Rank(Team& team, int self);
    cuda::Launch launch() { return {.stream = &stream_, .status = &status_}; }
    void reach(Moment moment);
    void meet(bool announces, const Descriptor& mine);
    void pass();
    void check_sums() const;
    std::uint32_t* data();

    Team& team_;
    int self_;
    std::mt19937 random_;
    std::array<std::chrono::microseconds, moments> delays_{};
    std::uint32_t operation_ = 0;
    std::uint32_t epoch_ = cuda::first_epoch;
    std::uint64_t offset_ = 0;
    CUstream_st stream_;
    cuda::SignalPad pad_;
    cuda::Status status_;
    std::array<std::uint32_t, 2 * words> slab_{};
    std::array<std::uint32_t, words> sums_{};
  };

  Rank& operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  int size() const { return options_.ranks; }

 private:
  Options options_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace foldstep::tsan
