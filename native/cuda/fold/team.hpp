#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "cuda/comm/cuda_communicator.hpp"
#include "cuda/window/cuda_window.hpp"
#include "runtime/fold.hpp"
#include "runtime/fold_checks.hpp"
#include "runtime/layout.hpp"

namespace foldstep::cuda {

/// A Team with its members found in its window.
class Members {
 public:
  /// Errors: Code::InvalidArgument. `team` has been checked.
  explicit Members(const Team& team);

  int size() const { return communicator_->size(); }
  int index() const { return communicator_->rank(); }
  CudaCommunicator& communicator() const { return *communicator_; }
  const CudaWindow* window() const { return window_.get(); }

  /// Issues `body` behind a meeting in which every member is about to do what `mine` says. `turn` is null
  /// without a window.
  void meet(Lane& lane, Descriptor mine, const std::function<void(CudaWindow::Turn*)>& body) const;

 private:
  std::shared_ptr<CudaCommunicator> communicator_;
  std::shared_ptr<CudaWindow> window_;
  int channel_ = 0;
  std::vector<int> places_;  // of the members in the window
};

/// What a fused pass needs to know while it is issued.
struct Pass {
  Lane& lane;
  const Members& members;
  const Layout& layout;
};

}  // namespace foldstep::cuda
