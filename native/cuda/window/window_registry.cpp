#include "cuda/window/window_registry.hpp"

#include "cuda/window/cuda_window.hpp"

namespace foldstep::cuda {

WindowRegistry& WindowRegistry::get() {
  // Never destroyed, since streams may end after the statics. What is destroyed in its place was made after
  // CUDA's own statics, and goes before them.
  static auto* const instance = new WindowRegistry;
  static const struct AtExit {
    ~AtExit() { instance->leave_all(); }
  } at_exit;
  return *instance;
}

void WindowRegistry::leave_all() {
  const std::lock_guard lock(mutex_);
  for (CudaWindow* const window : present_) window->leave();
}

void WindowRegistry::add(CudaWindow& window) {
  const std::lock_guard lock(mutex_);
  present_.insert(&window);
}

void WindowRegistry::remove(CudaWindow& window) {
  const std::lock_guard lock(mutex_);
  present_.erase(&window);
}

}  // namespace foldstep::cuda
