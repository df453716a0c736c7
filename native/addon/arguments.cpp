#include "addon/arguments.hpp"

#include <algorithm>
#include <cmath>

#include "addon/memory_handle.hpp"
#include "addon/stream_handle.hpp"
#include "runtime/deadline.hpp"
#include "runtime/error.hpp"

namespace foldstep::addon {

bool to_size(double value, std::size_t& size) {
  constexpr double largest = 9'007'199'254'740'991;
  if (!(value >= 0 && value <= largest) || std::trunc(value) != value) return false;
  size = static_cast<std::size_t>(value);
  return true;
}

std::uint32_t to_index(std::size_t value) {
  if (value <= UINT32_MAX) return static_cast<std::uint32_t>(value);
  throw Error(Code::InvalidArgument, std::to_string(value) + " is too large for an index");
}

void Arguments::refuse(const std::string& expected) const {
  throw Error(Code::InvalidArgument, "argument " + std::to_string(position_) + " must be " + expected);
}

bool Arguments::skip_absent() {
  const napi_valuetype type = info_[position_].Type();
  if (type != napi_null && type != napi_undefined) return false;
  ++position_;
  return true;
}

double Arguments::number() {
  double value = 0;
  if (napi_get_value_double(info_.Env(), next(), &value) != napi_ok) refuse("a number");
  return value;
}

bool Arguments::flag() {
  bool value = false;
  if (napi_get_value_bool(info_.Env(), next(), &value) != napi_ok) refuse("true or false");
  return value;
}

std::int32_t Arguments::integer() {
  const double value = number();
  if (!(value >= INT32_MIN && value <= INT32_MAX) || std::trunc(value) != value)
    refuse("a whole number of 32 bits");
  return static_cast<std::int32_t>(value);
}

std::size_t Arguments::size() {
  std::size_t value = 0;
  if (!to_size(number(), value)) refuse("a whole number from 0 to 2^53 - 1");
  return value;
}

std::chrono::milliseconds Arguments::deadline() {
  return std::min(std::chrono::milliseconds(size()), longest_deadline);
}

std::vector<double> Arguments::numbers() {
  const Napi::Value value = next();
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float64_array) {
    refuse("a Float64Array");
  }
  const auto array = value.As<Napi::Float64Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

std::vector<std::size_t> Arguments::sizes() {
  const std::vector<double> values = numbers();
  std::vector<std::size_t> sizes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!to_size(values[i], sizes[i])) refuse("whole numbers from 0 to 2^53 - 1");
  }
  return sizes;
}

Bytes Arguments::bytes() {
  const Napi::Value value = next();
  if (!value.IsTypedArray()) refuse("a typed array");
  const auto array = value.As<Napi::TypedArray>();
  return {static_cast<std::byte*>(array.ArrayBuffer().Data()) + array.ByteOffset(), array.ByteLength()};
}

std::byte* Arguments::address() {
  const Napi::Value value = next();
  bool lossless = false;
  if (!value.IsBigInt()) refuse("an address as a BigInt");
  const std::uint64_t bits = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) refuse("an address from 0 to 2^64 - 1");
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(bits));
}

std::size_t Arguments::index_up_to(std::size_t last) {
  const std::size_t value = size();
  if (value > last) refuse("a whole number from 0 to " + std::to_string(last));
  return value;
}

Stream& Arguments::stream() {
  return *handle<StreamHandle>().payload();
}

Span Arguments::span() {
  const auto& memory = handle<MemoryHandle>().payload();
  const std::size_t offset = size();
  if (offset > memory->bytes()) {
    refuse("an offset within the block's " + std::to_string(memory->bytes()) + " bytes");
  }
  return {memory, offset};
}

Span Arguments::span_or_none() {
  if (!skip_absent()) return span();
  ++position_;
  return {};
}

}  // namespace foldstep::addon
