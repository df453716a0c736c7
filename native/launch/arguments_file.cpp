#include "launch/arguments_file.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>

namespace foldstep::launch {

Descriptor write_arguments(std::span<char* const> arguments) {
  Descriptor file(memfd_create("foldstep-arguments", MFD_CLOEXEC));
  if (!file.open()) throw std::system_error(errno, std::generic_category(), "memfd_create");
  std::string text;
  for (const char* argument : arguments) text.append(argument).push_back('\0');
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = write(file.number(), rest.data(), rest.size());
    if (written < 0) throw std::system_error(errno, std::generic_category(), "write");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return file;
}

std::vector<std::string> read_arguments(int file) {
  std::string text;
  char part[1 << 16];
  // All ranks share the file's position; each reads by an offset of its own.
  for (ssize_t got; (got = pread(file, part, sizeof part, static_cast<off_t>(text.size()))) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

void execute(const std::vector<std::string>& program) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  std::vector<char*> arguments;
  for (const std::string& argument : program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "foldstep run: %s cannot be started: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

}  // namespace foldstep::launch
