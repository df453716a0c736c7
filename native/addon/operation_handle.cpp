#include "addon/operation_handle.hpp"

#include <array>

#include "addon/arguments.hpp"

namespace foldstep::addon {

Napi::Function OperationHandle::define(Napi::Env env) {
  return DefineClass(env, "PreparedOperation",
                     {method_of<&OperationHandle::enqueue>("enqueue"), release_method()});
}

Napi::Value OperationHandle::enqueue(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Stream& stream = in.stream();
  std::array<double, 4> values{};
  std::size_t count = 0;
  while (!in.at_end() && count < values.size()) values[count++] = in.number();
  payload()->enqueue(stream, {values.data(), count});
  return info.Env().Undefined();
}

}  // namespace foldstep::addon
