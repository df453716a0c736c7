#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace foldstep {

/// Knows the bytes of every temporary that foldstep's operations hold, now and at most. Thread-safe.
class Ledger {
 public:
  /// Bytes held by one operation, given back when it goes out of scope.
  class Entry {
   public:
    Entry() = default;
    Entry(Ledger& ledger, std::size_t bytes) : ledger_(&ledger), bytes_(bytes) { ledger.add(bytes); }
    Entry(Entry&& other) noexcept
        : ledger_(std::exchange(other.ledger_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(ledger_, other.ledger_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Entry() {
      if (ledger_ != nullptr) ledger_->current_.fetch_sub(bytes_);
    }

   private:
    Ledger* ledger_ = nullptr;
    std::size_t bytes_ = 0;
  };

  std::size_t current_bytes() const { return current_.load(); }
  std::size_t peak_bytes() const { return peak_.load(); }
  void reset_peak() { peak_.store(current_.load()); }

 private:
  void add(std::size_t bytes) {
    const std::size_t now = current_.fetch_add(bytes) + bytes;
    std::size_t peak = peak_.load();
    while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
    }
  }

  std::atomic<std::size_t> current_{0};
  std::atomic<std::size_t> peak_{0};
};

}  // namespace foldstep
