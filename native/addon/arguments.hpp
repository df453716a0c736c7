#pragma once

#include <napi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "addon/handle.hpp"
#include "runtime/dtype.hpp"
#include "runtime/memory.hpp"
#include "runtime/stream.hpp"

namespace foldstep::addon {

/// Of a typed array.
struct Bytes {
  std::byte* data;
  std::size_t count;
};

/// Reads a call's positional arguments from left to right. Everything throws foldstep::Error, InvalidArgument
/// naming the argument's position for a wrong value, Disposed for a released handle.
class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info) {}

  /// The next one, whatever it is.
  Napi::Value next() { return info_[position_++]; }
  /// Whether the next one is null or undefined; if so it is passed over.
  bool skip_absent();

  template <typename T>
  T& handle() {
    return T::from(next());
  }

  double number();
  bool flag();
  std::int32_t integer();
  /// A whole number from 0 to 2^53 - 1.
  std::size_t size();
  /// A whole number from 0 to 2^31 - 1.
  std::uint32_t count() { return static_cast<std::uint32_t>(index_up_to(INT32_MAX)); }
  /// In milliseconds; one that is longer than the longest is taken for that.
  std::chrono::milliseconds deadline();
  /// The numbers of a Float64Array.
  std::vector<double> numbers();
  /// The same, as size().
  std::vector<std::size_t> sizes();
  /// The memory of a typed array; valid for the call.
  Bytes bytes();
  /// A BigInt of 64 bits.
  std::byte* address();

  Stream& stream();
  /// Two arguments: a block and an offset in bytes.
  Span span();
  /// The same, or an absent block, which gives no memory.
  Span span_or_none();
  DType dtype() { return one_of(DType::U8); }

  /// An enumeration whose last value is `last`.
  template <typename Enumeration>
  Enumeration one_of(Enumeration last) {
    return static_cast<Enumeration>(index_up_to(static_cast<std::underlying_type_t<Enumeration>>(last)));
  }

 private:
  std::size_t index_up_to(std::size_t last);
  [[noreturn]] void refuse(const std::string& expected) const;

  const Napi::CallbackInfo& info_;
  std::size_t position_ = 0;
};

/// `value` as a whole number from 0 to 2^53 - 1; false if it is none.
bool to_size(double value, std::size_t& size);

/// `value` in 32 bits. Throws InvalidArgument if it needs more.
std::uint32_t to_index(std::size_t value);

}  // namespace foldstep::addon
