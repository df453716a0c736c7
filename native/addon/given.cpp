#include "addon/given.hpp"

#include <algorithm>
#include <cmath>

#include "addon/arguments.hpp"
#include "addon/memory_handle.hpp"
#include "addon/stream_handle.hpp"
#include "runtime/deadline.hpp"
#include "runtime/error.hpp"

namespace foldstep::addon {

namespace {

/// `value` as a whole number from 0 to 2^53 - 1; false if it is none.
bool to_size(double value, std::size_t& size) {
  constexpr double largest = 9'007'199'254'740'991;
  if (!(value >= 0 && value <= largest) || std::trunc(value) != value) return false;
  size = static_cast<std::size_t>(value);
  return true;
}

}  // namespace

std::uint32_t to_index(std::size_t value) {
  if (value <= UINT32_MAX) return static_cast<std::uint32_t>(value);
  throw Error(Code::InvalidArgument, std::to_string(value) + " is too large for an index");
}

void Given::refuse(const std::string& expected) const {
  const std::string name = field_ != nullptr ? field_ : "argument " + std::to_string(position_);
  throw Error(Code::InvalidArgument, name + " must be " + expected);
}

void Given::refuse_name(const std::string_view* names, std::size_t count) const {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + std::string(names[i]);
  refuse("one of " + list);
}

bool Given::absent() const {
  const napi_valuetype type = value_.Type();
  return type == napi_null || type == napi_undefined;
}

double Given::number() const {
  double value = 0;
  if (napi_get_value_double(value_.Env(), value_, &value) != napi_ok) refuse("a number");
  return value;
}

bool Given::flag() const {
  bool value = false;
  if (napi_get_value_bool(value_.Env(), value_, &value) != napi_ok) refuse("true or false");
  return value;
}

std::int32_t Given::integer() const {
  const double value = number();
  if (!(value >= INT32_MIN && value <= INT32_MAX) || std::trunc(value) != value)
    refuse("a whole number of 32 bits");
  return static_cast<std::int32_t>(value);
}

std::size_t Given::size() const {
  std::size_t value = 0;
  if (!to_size(number(), value)) refuse("a whole number from 0 to 2^53 - 1");
  return value;
}

std::uint32_t Given::count() const {
  const std::size_t value = size();
  if (value > INT32_MAX) refuse("a whole number from 0 to 2^31 - 1");
  return static_cast<std::uint32_t>(value);
}

std::chrono::milliseconds Given::deadline() const {
  return std::min(std::chrono::milliseconds(size()), longest_deadline);
}

std::string Given::text() const {
  if (!value_.IsString()) refuse("text");
  return value_.As<Napi::String>().Utf8Value();
}

std::vector<double> Given::numbers() const {
  if (!value_.IsTypedArray() || value_.As<Napi::TypedArray>().TypedArrayType() != napi_float64_array) {
    refuse("a Float64Array");
  }
  const auto array = value_.As<Napi::Float64Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

std::vector<std::size_t> Given::sizes() const {
  const std::vector<double> values = numbers();
  std::vector<std::size_t> sizes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!to_size(values[i], sizes[i])) refuse("whole numbers from 0 to 2^53 - 1");
  }
  return sizes;
}

Bytes Given::bytes() const {
  if (!value_.IsTypedArray()) refuse("a typed array");
  const auto array = value_.As<Napi::TypedArray>();
  return {static_cast<std::byte*>(array.ArrayBuffer().Data()) + array.ByteOffset(), array.ByteLength()};
}

std::byte* Given::address() const {
  bool lossless = false;
  if (!value_.IsBigInt()) refuse("an address as a BigInt");
  const std::uint64_t bits = value_.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) refuse("an address from 0 to 2^64 - 1");
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(bits));
}

Given Given::operator[](const char* name) const {
  if (!value_.IsObject()) refuse("an object");
  return {value_.As<Napi::Object>().Get(name), name};
}

Stream& Given::stream() const {
  return *handle<StreamHandle>().payload();
}

Span Given::span() const {
  const Given& self = *this;
  const Span span{self["memory"].handle<MemoryHandle>().payload(), self["offset"].size(),
                  self["bytes"].size()};
  if (span.offset > span.memory->bytes()) {
    refuse("within its block of " + std::to_string(span.memory->bytes()) + " bytes");
  }
  return span;
}

Span Arguments::span() {
  const auto& memory = handle<MemoryHandle>().payload();
  const std::size_t offset = size();
  if (offset <= memory->bytes()) return {memory, offset};
  throw Error(Code::InvalidArgument, "argument " + std::to_string(position_ - 1) +
                                         " must be an offset within the block's " +
                                         std::to_string(memory->bytes()) + " bytes");
}

}  // namespace foldstep::addon
