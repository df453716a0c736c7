#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace foldstep::cpu {

/// The threads that share one rank's element loops. The calling thread takes part.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;
  /// Calls `body(begin, end)` on disjoint parts that cover [0, n), the same for the same n; parts begin at
  /// multiples of `grain` and there is no more than one per `grain` elements. A thread that is not there in
  /// time finds its parts done by the others. Returns when all are done, and throws what the first part to
  /// fail has thrown. While the threads are at another loop the caller works its own off alone.
  void parallel_for(std::size_t n, std::size_t grain,
                    const std::function<void(std::size_t, std::size_t)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foldstep::cpu
