#include "cpu/comm/node_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "cpu/window/shared_memory.hpp"

namespace foldstep::cpu {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string file_identity(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return "none";
  return std::to_string(info.st_dev) + ':' + std::to_string(info.st_ino);
}

}  // namespace

std::string node_identity() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const char* node = std::getenv("FOLDSTEP_NODE");
  return std::string(host.data()) + '\n' + first_line("/proc/sys/kernel/random/boot_id") + '\n' +
         file_identity(shared_memory_directory()) + '\n' + file_identity("/proc/self/ns/pid") + '\n' +
         (node != nullptr ? node : "");
}

NodeHash hash_node(const std::string& identity) {
  NodeHash hash{0xcbf29ce484222325U, 0x6c62272e07bb0142U};
  for (const unsigned char byte : identity) {
    // FNV-1a, twice with different starts and multipliers.
    hash[0] = (hash[0] ^ byte) * 0x100000001b3U;
    hash[1] = (hash[1] ^ byte) * 0x9e3779b97f4a7c15U;
  }
  return hash;
}

}  // namespace foldstep::cpu
