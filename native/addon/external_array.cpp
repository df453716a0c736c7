#include "addon/external_array.hpp"

#include <string>
#include <utility>

#include "runtime/error.hpp"

namespace foldstep::addon {
namespace {

struct Lease {
  std::shared_ptr<const void> keep;
};
using SharedLease = std::shared_ptr<Lease>;

void end_lease(napi_env, void*, void* held) {
  delete static_cast<SharedLease*>(held);
}

Error refusal(Napi::Env env, napi_status status, std::size_t bytes) {
  std::string reason = "it gives no reason";
  if (env.IsExceptionPending()) reason = env.GetAndClearPendingException().Message();
  if (status == napi_no_external_buffers_allowed) {
    return {Code::InvalidArgument,
            "this JavaScript engine shows no memory but its own; read() and write() copy instead"};
  }
  return {Code::OutOfMemory,
          "Node.js does not show " + std::to_string(bytes) + " bytes in one array: " + reason};
}

}  // namespace

Napi::ArrayBuffer external_array(Napi::Env env, std::byte* data, std::size_t bytes,
                                 std::shared_ptr<const void> keep) {
  if (bytes == 0) return Napi::ArrayBuffer::New(env, 0);
  const auto lease = std::make_shared<Lease>(Lease{std::move(keep)});
  // Node-API itself and not its C++ face, which takes the finalizer's memory back after every failure: Node
  // has run the finalizer after some of them. Here a finalizer that never runs leaves an empty lease behind.
  napi_value array = nullptr;
  const napi_status status =
      napi_create_external_arraybuffer(env, data, bytes, end_lease, new SharedLease(lease), &array);
  if (status == napi_ok) return {env, array};
  lease->keep = nullptr;
  throw refusal(env, status, bytes);
}

}  // namespace foldstep::addon
