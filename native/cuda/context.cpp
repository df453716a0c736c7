#include "cuda/context.hpp"

#include <cstdio>
#include <future>
#include <utility>

#include "cuda/errors.hpp"
#include "runtime/error.hpp"

namespace foldstep::cuda {

Context::Context(const BackendOptions& options, std::shared_ptr<Backend> host_backend)
    : device(choose_device(options.local_rank)),
      deadline(options.deadline),
      collectives(options.collectives),
      host(std::move(host_backend)) {
  check(cudaGetDeviceProperties(&properties, device), "asking for the device's properties");
  allocator.reset();
}

int Context::choose_device(int local_rank) const {
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting devices");
  if (count == 0) check(cudaErrorNoDevice, "counting devices");
  const int chosen = local_rank % count;
  check(cudaSetDevice(chosen), "choosing device " + std::to_string(chosen));
  return chosen;
}

void Context::use() const {
  check(cudaSetDevice(device), "choosing the device");
}

void Context::free_later(const std::shared_ptr<Context>& context, std::function<void()> free) {
  context->frees_.fetch_add(1);
  // The task keeps the context, which therefore does not close the thread before it has run.
  context->freer_.enqueue([context, free = std::move(free)](const Cancelled&) {
    // The device may be failing: there is nobody to tell.
    cudaSetDevice(context->device);
    free();
    context->lent.sweep(context->side_stream);
    context->frees_.fetch_sub(1);
  });
}

bool Context::finish_frees() {
  if (frees_.load() == 0 && lent.empty()) return false;
  freer_.enqueue([this](const Cancelled&) {
    cudaSetDevice(device);
    lent.sweep(side_stream);
  });
  const auto passed = std::make_shared<std::promise<void>>();
  freer_.notify([passed](std::exception_ptr) { passed->set_value(); });
  passed->get_future().wait();
  return true;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

}  // namespace foldstep::cuda
