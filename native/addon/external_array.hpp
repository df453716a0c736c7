#pragma once

#include <napi.h>

#include <cstddef>
#include <memory>

namespace foldstep::addon {

/// An ArrayBuffer over memory that is not JavaScript's and that `keep` keeps alive. Errors:
/// Code::InvalidArgument where the engine shows no such memory, OutOfMemory for any other refusal, such as
/// more bytes than Node shows at once. Nothing is kept after an error.
Napi::ArrayBuffer external_array(Napi::Env env, std::byte* data, std::size_t bytes,
                                 std::shared_ptr<const void> keep);

}  // namespace foldstep::addon
