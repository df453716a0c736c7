#include "addon/errors.hpp"

#include <new>
#include <string>

#include "cpu/world.hpp"
#include "runtime/error.hpp"

namespace foldstep::addon {
namespace {

Napi::Error make(Napi::Env env, Code code, const std::string& message, double rank = -1, double peer = -1) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", std::string(name_of(code)));
  if (rank >= 0) error.Set("rank", rank);
  if (peer >= 0) error.Set("peer", peer);
  return error;
}

/// What allocates knows of no ranks, but of a job's processes it matters which one has no memory.
Napi::Error out_of_memory(Napi::Env env, const std::string& message) {
  const int rank = world_rank();
  const std::string where = rank < 0 ? "" : "rank " + std::to_string(rank) + ": ";
  return make(env, Code::OutOfMemory, where + message, rank);
}

}  // namespace

Napi::Error to_javascript(Napi::Env env, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Napi::Error& thrown) {
    return thrown;
  } catch (const Error& thrown) {
    if (thrown.code() == Code::OutOfMemory && thrown.rank() < 0) return out_of_memory(env, thrown.what());
    return make(env, thrown.code(), thrown.what(), thrown.rank(), thrown.peer());
  } catch (const std::bad_alloc&) {
    return out_of_memory(env, "the process has no memory left for this operation");
  } catch (const std::exception& thrown) {
    return make(env, Code::Internal, thrown.what());
  }
}

}  // namespace foldstep::addon
