#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/fold_operations.hpp"
#include "runtime/kernels.hpp"
#include "runtime/ledger.hpp"
#include "runtime/memory.hpp"
#include "runtime/peer_window.hpp"
#include "runtime/stream.hpp"

namespace foldstep {

/// What carries the collectives of a device that has its own memory.
enum class Collectives : std::uint8_t {
  Auto = 0,  ///< NCCL where it is there and every rank has a device of its own, else the host
  Nccl = 1,
  Host = 2,  ///< MPI, through pinned memory
};
template <>
struct Names<Collectives> {
  static constexpr std::array<std::string_view, 3> all{"auto", "nccl", "host"};
};

struct BackendOptions {
  std::chrono::milliseconds deadline{60'000};  ///< of everything that waits for another rank
  int threads = 0;                             ///< per rank; 0: the cores of this host divided by its ranks
  int local_rank = 0;                          ///< of this rank among those of this host
  int local_ranks = 1;                         ///< ranks on this host
  Collectives collectives = Collectives::Auto;
};

/// A kind of device and everything that is made on it. One per environment; outlives what it made.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Facts for people: instruction set, threads, ...
  virtual std::vector<std::pair<std::string, std::string>> describe() const = 0;
  virtual Ledger& ledger() = 0;
  /// Of the ledger, and of whatever else the backend measures memory by.
  virtual void reset_peaks() { ledger().reset_peak(); }
  virtual Kernels& kernels() = 0;

  /// Runs `body` on the stream, for a team that has been checked. Errors on the stream: those of the window
  /// and of the communicator.
  virtual void fold(Stream& stream, std::shared_ptr<const FoldTeam> team,
                    std::function<void(FoldOperations&)> body) = 0;
  /// Of a team.
  virtual int most_members() const { return std::numeric_limits<int>::max(); }

  virtual std::shared_ptr<Stream> create_stream() = 0;
  /// Zeroed, page-aligned.
  virtual std::shared_ptr<Memory> allocate(std::size_t bytes) = 0;
  /// Zeroed; where the processors of the host and the device both reach it.
  virtual std::shared_ptr<Memory> allocate_host(std::size_t bytes) = 0;
  /// The device's memory that somebody else owns and keeps for as long as this is used.
  virtual std::shared_ptr<Memory> wrap(std::byte* address, std::size_t bytes) = 0;

  /// The world's communicator, with collectives on this device's memory. Collective: blocks until every rank
  /// has come.
  virtual std::shared_ptr<Communicator> join(std::shared_ptr<Communicator> world) = 0;
  /// Collective over `communicator`, whose members must share memory; `bytes` must be the same on all. `done`
  /// is called on the stream's thread before the stream goes on; it is not called if the creation fails.
  virtual void create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                             std::function<void(std::shared_ptr<PeerWindow>)> done) = 0;
};

}  // namespace foldstep
