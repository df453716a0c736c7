#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "cpu/comm/cpu_communicator.hpp"
#include "cpu/window/cpu_window.hpp"
#include "runtime/fold.hpp"
#include "runtime/fold_checks.hpp"
#include "runtime/layout.hpp"

namespace foldstep::cpu {

/// A Team with its members found in its window.
class Members {
 public:
  /// Errors: Code::InvalidArgument. `team` has been checked.
  explicit Members(const Team& team);

  int size() const { return communicator_->size(); }
  int index() const { return communicator_->rank(); }
  const std::shared_ptr<CpuCommunicator>& communicator() const { return communicator_; }
  const CpuWindow* window() const { return window_.get(); }

  /// Runs `body` once every member is about to do what `mine` says. `turn` is null without a window.
  void meet(Descriptor mine, const Cancelled& cancelled,
            const std::function<void(Signals::Turn*)>& body) const;

  /// Address of byte `offset` of a member's slab, of which `extent` bytes are needed. Errors: Code::Internal.
  std::byte* peer_bytes(int member, std::size_t offset, std::size_t extent) const;

 private:
  std::shared_ptr<CpuCommunicator> communicator_;
  std::shared_ptr<CpuWindow> window_;
  int channel_ = 0;
  std::vector<int> places_;  // of the members in the window
};

/// What a fused pass needs to know, for as long as it runs.
struct Pass {
  Context& context;
  const Members& members;
  const Layout& layout;
  const Cancelled& cancelled;
};

}  // namespace foldstep::cpu
