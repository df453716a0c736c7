#include "cpu/quota.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

namespace foldstep::cpu {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

enum class Version { One, Two };

/// Where the groups of one version are mounted: `point` shows the group `group` and those within it.
struct Mount {
  Version version;
  std::string group;
  std::string point;
};

/// Whether `word` is one of those that commas separate.
bool lists(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

/// The mounts of groups that limit the time of processors.
std::vector<Mount> find_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream place(line.substr(0, dash));
    std::istringstream kind(line.substr(dash + 3));
    std::string id, parent, device, group, point, type, source, options;
    place >> id >> parent >> device >> group >> point;
    kind >> type >> source >> options;
    if (type == "cgroup2") mounts.push_back({Version::Two, group, point});
    if (type == "cgroup" && lists(options, "cpu")) mounts.push_back({Version::One, group, point});
  }
  return mounts;
}

struct Groups {
  std::optional<std::string> one;
  std::optional<std::string> two;
};

/// The groups that limit a process. A line is an id, controllers and a path, with colons between.
Groups find_groups(pid_t process, const std::string& root) {
  Groups groups;
  std::ifstream file(root + "/proc/" + std::to_string(process) + "/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) groups.two = path;
    if (lists(controllers, "cpu")) groups.one = path;
  }
  return groups;
}

double quotient(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : unlimited;
}

/// A text that is no number, such as "max", or a file that is not there gives 0.
double number_in(const std::string& path) {
  double number = 0;
  std::ifstream(path) >> number;
  return number;
}

double quota_in(const std::string& folder, Version version) {
  if (version == Version::One) {
    return quotient(number_in(folder + "/cpu.cfs_quota_us"), number_in(folder + "/cpu.cfs_period_us"));
  }
  std::string quota;
  double period = 0;
  std::ifstream(folder + "/cpu.max") >> quota >> period;
  return quota == "max" ? unlimited : quotient(std::strtod(quota.c_str(), nullptr), period);
}

/// Below the mount; empty for the mounted group itself, which also stands for a group that is out of sight.
std::string path_below(const Mount& mount, const std::string& path) {
  const std::string prefix = mount.group == "/" ? "" : mount.group;
  const bool within = path.compare(0, prefix.size(), prefix) == 0 && path.find("/..") == std::string::npos;
  const std::string below = within ? path.substr(prefix.size()) : "";
  return below == "/" || below.empty() || below.front() != '/' ? "" : below;
}

double least_quota(const Mount& mount, const std::string& path, const std::string& root) {
  const std::string point = root + mount.point;
  double least = unlimited;
  for (std::string below = path_below(mount, path);; below.resize(below.rfind('/'))) {
    least = std::min(least, quota_in(point + below, mount.version));
    if (below.empty()) return least;
  }
}

}  // namespace

std::optional<double> quota_of(pid_t process, const std::string& root) {
  const Groups groups = find_groups(process, root);
  if (!groups.one && !groups.two) return std::nullopt;
  double least = unlimited;
  for (const Mount& mount : find_mounts(root)) {
    const auto& path = mount.version == Version::One ? groups.one : groups.two;
    if (path) least = std::min(least, least_quota(mount, *path, root));
  }
  return least;
}

}  // namespace foldstep::cpu
