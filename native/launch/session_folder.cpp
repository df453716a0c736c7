#include "launch/session_folder.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace foldstep::launch {

void remove_session_folder(pid_t launcher) {
  // Where Open MPI 4 puts it; the folder above is that of all jobs of the user.
  const char* const chosen = std::getenv("TMPDIR");
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) return;
  const std::string name(host.data());
  for (const std::string& node : {name, name.substr(0, name.find('.'))}) {
    const std::filesystem::path user =
        std::filesystem::path(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp") /
        ("ompi." + node + '.' + std::to_string(geteuid()));
    std::error_code ignored;
    if (std::filesystem::remove_all(user / ("pid." + std::to_string(launcher)), ignored) > 0) {
      std::filesystem::remove(user, ignored);  // where it is empty
    }
  }
}

}  // namespace foldstep::launch
