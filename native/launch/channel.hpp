#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "launch/descriptor.hpp"

namespace foldstep::launch {

/// What a guard and the supervisor tell each other.
enum class Kind : std::int32_t {
  Hello,  ///< The guard of rank `value` is there.
  Start,  ///< The guard may start its rank; `files` come with it.
  Asked,  ///< The launcher has told the rank to end.
  Ended,  ///< The rank has ended with the wait status `value`.
  Leave,  ///< The guard may end as its rank did.
};

struct Message {
  Kind kind;
  std::int32_t value = 0;
};

/// Standard input, output and error of a rank, and the file with its program and arguments.
using Files = std::array<int, 4>;

/// A socket without a name in the file system, so that nothing is left behind. `name` receives what the
/// kernel called it.
Descriptor listen_in_kernel(std::string& name);
/// Throws std::system_error, also where another user's process has that name.
Descriptor connect_in_kernel(const std::string& name);
/// The process at the other end, or -1 if it is another user's.
int peer_process(int socket);

/// False if the other end is gone.
bool send_message(int socket, const Message& message, const Files* files = nullptr);
/// Nothing if the other end is gone. `files` receives what came along; the caller owns it.
std::optional<Message> receive_message(int socket, std::array<Descriptor, 4>* files = nullptr);

}  // namespace foldstep::launch
