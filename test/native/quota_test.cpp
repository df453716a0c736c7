#include "cpu/quota.hpp"

#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "check.hpp"
#include "cpu/cores.hpp"

using namespace foldstep::cpu;

namespace {

constexpr int process = 7;

/// A folder that holds what /proc and /sys hold on some host.
class Host {
 public:
  Host() {
    std::string name = (std::filesystem::temp_directory_path() / "foldstep-quota-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("there is no folder for temporary files");
    root_ = name;
  }
  ~Host() { std::filesystem::remove_all(root_); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  Host& has(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text << '\n';
    return *this;
  }
  /// Mounted: version 2 whole.
  Host& has_version_two() {
    return has("/proc/self/mountinfo",
               "23 1 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n"
               "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate");
  }
  /// Mounted: version 1, with the controllers of processors in one place, as far as `group` shows.
  Host& has_version_one(const std::string& group) {
    return has("/proc/self/mountinfo",
               "32 31 0:29 " + group +
                   " /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:10 - cgroup cgroup rw,cpu,cpuacct\n"
                   "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset");
  }
  Host& is_in(const std::string& lines) { return has("/proc/7/cgroup", lines); }

  double quota() const { return quota_of(process, root_).value(); }
  bool sees_process() const { return quota_of(process, root_).has_value(); }

 private:
  std::string root_;
};

}  // namespace

int main() {
  Tests test;

  test("version 2: half a core, for the group itself and for one within it", [] {
    Host host;
    host.has_version_two().has("/sys/fs/cgroup/job/cpu.max", "50000 100000");
    CHECK(host.is_in("0::/job").quota() == 0.5);
    host.has("/sys/fs/cgroup/job/rank/cpu.max", "max 100000");
    CHECK(host.is_in("0::/job/rank").quota() == 0.5);
  });

  test("version 2: the least of all groups around, in other periods too", [] {
    Host host;
    host.has_version_two().has("/sys/fs/cgroup/a/cpu.max", "30000 10000");
    host.has("/sys/fs/cgroup/a/b/cpu.max", "150000 100000").has("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
    CHECK(host.is_in("0::/a/b/c").quota() == 1.5);
    CHECK(host.is_in("0::/a").quota() == 3);
  });

  test("version 2 in a container: the mounted group is the process's own", [] {
    Host host;
    host.has_version_two().has("/sys/fs/cgroup/cpu.max", "200000 100000");
    CHECK(host.is_in("0::/").quota() == 2);
    CHECK(host.is_in("0::/../outside").quota() == 2);
  });

  test("version 1: half a core", [] {
    Host host;
    host.has_version_one("/").has("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000");
    host.has("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    CHECK(host.is_in("4:cpuset:/\n3:cpu,cpuacct:/job\n0::/").quota() == 0.5);
    CHECK(std::isinf(host.is_in("4:cpuset:/job\n3:cpu,cpuacct:/\n0::/job").quota()));
  });

  test("version 1 in a container: the path is the host's, and the mount shows what is within it", [] {
    Host host;
    host.has_version_one("/docker/abc").has("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000");
    host.has("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    host.has("/sys/fs/cgroup/cpu,cpuacct/sub/cpu.cfs_quota_us", "100000");
    host.has("/sys/fs/cgroup/cpu,cpuacct/sub/cpu.cfs_period_us", "100000");
    CHECK(host.is_in("3:cpu,cpuacct:/docker/abc").quota() == 4);
    CHECK(host.is_in("3:cpu,cpuacct:/docker/abc/sub").quota() == 1);
    CHECK(host.is_in("3:cpu,cpuacct:/docker/abcd").quota() == 4);
  });

  test("no quota: infinite, whatever stands in its place", [] {
    Host host;
    host.has_version_two().is_in("0::/job");
    CHECK(std::isinf(host.quota()));
    for (const char* text : {"max 100000", "", "0 100000", "-1 100000", "50000", "50000 0", "x y"}) {
      CHECK(std::isinf(host.has("/sys/fs/cgroup/job/cpu.max", text).quota()));
    }
    host.has_version_one("/")
        .is_in("3:cpu:/job")
        .has("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
    CHECK(std::isinf(host.has("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000").quota()));
  });

  test("a process that is not seen has none that is known", [] {
    Host host;
    host.has_version_two();
    CHECK(!host.sees_process());
  });

  test("half a core is one thread that never spins", [] {
    const Cores cores{0.5, 0.5};
    CHECK(cores.share_of(1) == 1);
    CHECK(!cores.enough_for(1));
    // The launcher may have the whole host, and the rank a quota of its own.
    CHECK(!(Cores{0.5, 16}).enough_for(1));
  });

  test("one core and a half is one thread, which two ranks do not have", [] {
    const Cores cores{1.5, 1.5};
    CHECK(cores.share_of(1) == 1);
    CHECK(cores.share_of(2) == 1);
    CHECK(cores.enough_for(1));
    CHECK(!cores.enough_for(2));
  });

  test("ranks share what the host has, each up to its own", [] {
    CHECK((Cores{8, 8}).share_of(2) == 4);
    CHECK((Cores{1, 8}).share_of(2) == 1);
    CHECK((Cores{7.5, 7.5}).share_of(2) == 3);
    CHECK((Cores{8, 8}).enough_for(8));
    CHECK(!(Cores{8, 8}).enough_for(9));
  });

  return test.finish();
}
