#include "launch/channel.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace foldstep::launch {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Descriptor local_socket() {
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made.open()) fail("socket");
  return made;
}

}  // namespace

Descriptor listen_in_kernel(std::string& name) {
  Descriptor socket = local_socket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An address without a name makes the kernel choose a free one.
  if (bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)) != 0) fail("bind");
  socklen_t length = sizeof address;
  if (getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &length) != 0) fail("getsockname");
  if (listen(socket.number(), SOMAXCONN) != 0) fail("listen");
  // The first byte is zero: it tells such names from paths.
  name.assign(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  return socket;
}

Descriptor connect_in_kernel(const std::string& name) {
  Descriptor socket = local_socket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail("connect");
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(socket.number(), reinterpret_cast<sockaddr*>(&address), length) != 0) fail("connect");
  if (peer_process(socket.number()) < 0) {
    errno = EPERM;
    fail("connect");
  }
  return socket;
}

int peer_process(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  return peer.uid == geteuid() ? peer.pid : -1;
}

bool send_message(int socket, const Message& message, const Files* files) {
  iovec part{const_cast<Message*>(&message), sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Files))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (files != nullptr) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof *files);
    std::memcpy(CMSG_DATA(rights), files->data(), sizeof *files);
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

std::optional<Message> receive_message(int socket, std::array<Descriptor, 4>* files) {
  Message message{};
  iovec part{&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Files))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t received;
  do {
    received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received != static_cast<ssize_t>(sizeof message)) return std::nullopt;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (files != nullptr && rights != nullptr && rights->cmsg_len == CMSG_LEN(sizeof(Files))) {
    Files numbers;
    std::memcpy(numbers.data(), CMSG_DATA(rights), sizeof numbers);
    for (std::size_t i = 0; i < numbers.size(); i++) (*files)[i] = Descriptor(numbers[i]);
  }
  return message;
}

}  // namespace foldstep::launch
