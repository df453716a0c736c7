#pragma once

#include <napi.h>

#include "addon/given.hpp"

namespace foldstep::addon {

/// Reads a call's positional arguments from left to right, with the errors of Given.
class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info) {}

  Given next() {
    const std::size_t position = position_++;
    return {info_[position], position};
  }
  bool at_end() const { return position_ >= info_.Length(); }

  double number() { return next().number(); }
  std::int32_t integer() { return next().integer(); }
  std::size_t size() { return next().size(); }
  std::uint32_t count() { return next().count(); }
  std::chrono::milliseconds deadline() { return next().deadline(); }
  std::vector<std::size_t> sizes() { return next().sizes(); }
  Bytes bytes() { return next().bytes(); }
  Stream& stream() { return next().stream(); }
  /// Two arguments: a block and an offset in bytes.
  Span span();
  template <typename T>
  T& handle() {
    return next().handle<T>();
  }
  template <typename Enumeration>
  Enumeration one_of() {
    return next().one_of<Enumeration>();
  }

 private:
  const Napi::CallbackInfo& info_;
  std::size_t position_ = 0;
};

}  // namespace foldstep::addon
