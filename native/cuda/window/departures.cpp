#include "cuda/window/departures.hpp"

#include "cuda/window/cuda_window.hpp"

namespace foldstep::cuda {

Departures& Departures::get() {
  // Never destroyed, since streams may end after the statics. What is destroyed in its place was made after
  // CUDA's own statics, and goes before them.
  static auto* const instance = new Departures;
  static const struct AtExit {
    ~AtExit() { instance->leave_all(); }
  } at_exit;
  return *instance;
}

void Departures::leave_all() {
  const std::lock_guard lock(mutex_);
  for (CudaWindow* const window : present_) window->leave();
}

void Departures::add(CudaWindow& window) {
  const std::lock_guard lock(mutex_);
  present_.insert(&window);
}

void Departures::remove(CudaWindow& window) {
  const std::lock_guard lock(mutex_);
  present_.erase(&window);
}

}  // namespace foldstep::cuda
