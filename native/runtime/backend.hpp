#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/fold.hpp"
#include "runtime/kernels.hpp"
#include "runtime/ledger.hpp"
#include "runtime/memory.hpp"
#include "runtime/peer_window.hpp"
#include "runtime/stream.hpp"

namespace foldstep {

struct BackendOptions {
  std::chrono::milliseconds deadline{60'000};  ///< of everything that waits for another rank
  int threads = 0;                             ///< per rank; 0: the cores of this host divided by its ranks
  int local_ranks = 1;                         ///< ranks on this host
};

/// A kind of device and everything that is made on it. One per environment; outlives what it made.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Facts for people: instruction set, threads, ...
  virtual std::vector<std::pair<std::string, std::string>> describe() const = 0;
  virtual Ledger& ledger() = 0;
  virtual Kernels& kernels() = 0;
  virtual Fold& fold() = 0;

  virtual std::shared_ptr<Stream> create_stream() = 0;
  /// Zeroed, page-aligned.
  virtual std::shared_ptr<Memory> allocate(std::size_t bytes) = 0;
  /// Collective over `communicator`, whose members must share memory; `bytes` must be the same on all. `done`
  /// is called on the stream's thread before the stream goes on; it is not called if the creation fails.
  virtual void create_window(Stream& stream, std::shared_ptr<Communicator> communicator, std::size_t bytes,
                             std::function<void(std::shared_ptr<PeerWindow>)> done) = 0;
};

}  // namespace foldstep
