#pragma once

#include <napi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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

/// What JavaScript gave for an argument or for a field of an object. Everything throws foldstep::Error:
/// InvalidArgument, naming it, for a value of another kind; Disposed for a released handle.
class Given {
 public:
  Given(Napi::Value value, std::size_t position) : value_(value), position_(position) {}
  Given(Napi::Value value, const char* field) : value_(value), field_(field) {}

  bool absent() const;
  double number() const;
  bool flag() const;
  std::int32_t integer() const;
  /// A whole number from 0 to 2^53 - 1.
  std::size_t size() const;
  /// A whole number from 0 to 2^31 - 1.
  std::uint32_t count() const;
  /// In milliseconds; one that is longer than the longest is taken for that.
  std::chrono::milliseconds deadline() const;
  std::string text() const;
  /// The numbers of a Float64Array.
  std::vector<double> numbers() const;
  /// The same, as size().
  std::vector<std::size_t> sizes() const;
  /// The memory of a typed array; valid for the call.
  Bytes bytes() const;
  /// A BigInt of 64 bits.
  std::byte* address() const;
  /// A field of an object. `name` outlives what is given.
  Given operator[](const char* name) const;

  template <typename T>
  T& handle() const {
    return T::from(value_);
  }
  Stream& stream() const;
  /// An object: `memory`, and its `offset` and length in `bytes`.
  Span span() const;
  /// The same, or an absent value, which gives no memory.
  Span span_or_none() const { return absent() ? Span{} : span(); }

  /// One of an enumeration, by its name.
  template <typename Enumeration>
  Enumeration one_of() const {
    constexpr const auto& names = Names<Enumeration>::all;
    const auto place = std::find(names.begin(), names.end(), text());
    if (place == names.end()) refuse_name(names.data(), names.size());
    return static_cast<Enumeration>(place - names.begin());
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const;
  [[noreturn]] void refuse_name(const std::string_view* names, std::size_t count) const;

  Napi::Value value_;
  const char* field_ = nullptr;  // null: an argument
  std::size_t position_ = 0;
};

/// `value` in 32 bits. Throws InvalidArgument if it needs more.
std::uint32_t to_index(std::size_t value);

}  // namespace foldstep::addon
