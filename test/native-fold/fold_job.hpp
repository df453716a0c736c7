#pragma once

#include <memory>
#include <string>
#include <utility>

#include "../native-ranks/job.hpp"
#include "cpu/cpu_backend.hpp"
#include "fold/prepare.hpp"
#include "reference.hpp"

namespace foldstep::test {

/// The ranks of a job with a backend each.
class FoldJob : public Job {
 public:
  explicit FoldJob(std::chrono::milliseconds deadline = std::chrono::milliseconds(20'000))
      : backend(create_cpu_backend({deadline, 0, world.local_size})) {}

  int rank() const { return world.communicator->rank(); }
  int size() const { return world.communicator->size(); }

  std::shared_ptr<PeerWindow> window(const std::shared_ptr<Communicator>& communicator, std::size_t bytes) {
    std::shared_ptr<PeerWindow> result;
    backend->create_window(stream, communicator, bytes,
                           [&](std::shared_ptr<PeerWindow> window) { result = std::move(window); });
    finish(stream);
    return result;
  }

  template <typename Request>
  void enqueue(const Team& team, const Request& request) {
    fold::prepare(*backend, team, request)->enqueue(stream, {});
  }

  std::shared_ptr<Backend> backend;
};

inline std::string name_of_path(Path path) {
  const char* const names[] = {"direct", "owner", "exchange", "library"};
  return names[static_cast<int>(path)];
}

[[noreturn]] inline void throw_wrong(const std::string& what, std::size_t element, float got, float want) {
  throw std::runtime_error(what + ' ' + std::to_string(element) + " is " + std::to_string(got) + ", not " +
                           std::to_string(want));
}

/// Bits, or on Path::Library, which sums in an order of its own, nearly so.
inline bool matches(Path path, float got, float want, DType type, float magnitude) {
  if (path != Path::Library) return same_bits(got, want);
  const float precision = type == DType::BF16 ? 0x1p-7F : 0x1p-20F;
  return std::abs(got - want) <=
         precision * (std::abs(want) + (type == DType::BF16 ? 0x1p-10F : 1) * magnitude);
}

}  // namespace foldstep::test
