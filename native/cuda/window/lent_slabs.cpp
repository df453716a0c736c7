#include "cuda/window/lent_slabs.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>

#include "cuda/kernels/signal_pad.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

namespace {

static_assert(max_members <= 64, "a place is a bit of Places");

/// Those of `borrowers` that have not said in the pad that they are done.
Places remaining(SideStream& side_stream, const std::byte* block, Places borrowers) {
  if (borrowers == 0) return 0;
  std::array<std::uint32_t, max_members> closed{};
  try {
    side_stream.copy(closed.data(), reinterpret_cast<const SignalPad*>(block)->closed, sizeof closed);
  } catch (const Error&) {
    // The device has failed: nothing is known of them.
    return borrowers;
  }
  for (std::size_t place = 0; place < closed.size(); ++place) {
    if (closed[place] != 0) borrowers &= ~(Places{1} << place);
  }
  return borrowers;
}

}  // namespace

void LentSlabs::add(std::byte* block, Places borrowers) {
  const std::lock_guard lock(mutex_);
  slabs_.push_back({block, borrowers});
}

void LentSlabs::sweep(SideStream& side_stream) {
  std::vector<std::byte*> returned;
  {
    const std::lock_guard lock(mutex_);
    for (Slab& slab : slabs_) {
      slab.borrowers = remaining(side_stream, slab.block, slab.borrowers);
      if (slab.borrowers == 0) returned.push_back(slab.block);
    }
    std::erase_if(slabs_, [](const Slab& slab) { return slab.borrowers == 0; });
  }
  for (std::byte* const block : returned) cudaFree(block);
}

bool LentSlabs::empty() const {
  const std::lock_guard lock(mutex_);
  return slabs_.empty();
}

}  // namespace foldstep::cuda
