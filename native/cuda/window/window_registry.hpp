#pragma once

#include <mutex>
#include <set>

namespace foldstep::cuda {

class CudaWindow;

/// The windows of this process that are in use: `process.exit` runs no destructor of them, so what is left is
/// left when the process ends.
class WindowRegistry {
 public:
  static WindowRegistry& get();

  void add(CudaWindow& window);
  void remove(CudaWindow& window);

  /// To the peers, the ranks of all of them have gone.
  void leave_all();

 private:
  std::mutex mutex_;
  std::set<CudaWindow*> present_;
};

}  // namespace foldstep::cuda
