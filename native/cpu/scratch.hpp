#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace foldstep::cpu {

class HostMemory;

/// Memory for the length of one operation. A block of up to `kept_bytes` is kept when it comes back, for the
/// next operation: fresh pages cost more than what is done with them. Thread-safe.
class Scratch {
 public:
  static constexpr std::size_t kept_bytes = std::size_t{2} << 20;

  /// Not zeroed. The block may outlive this object. Errors: Code::OutOfMemory.
  std::shared_ptr<std::byte[]> take(std::size_t bytes);

 private:
  struct Spare {
    std::mutex mutex;
    std::shared_ptr<HostMemory> block;
  };
  std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
};

}  // namespace foldstep::cpu
