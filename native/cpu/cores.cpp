#include "cpu/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "cpu/quota.hpp"

namespace foldstep::cpu {

namespace {

int cores_allowed_to(pid_t process) {
  // The kernel refuses a set that is smaller than its own, however few cores the host has.
  constexpr int most_cores = 1 << 16;
  std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(most_cores) / sizeof(cpu_set_t));
  const std::size_t bytes = set.size() * sizeof(cpu_set_t);
  if (sched_getaffinity(process, bytes, set.data()) != 0) return 0;
  return CPU_COUNT_S(bytes, set.data());
}

}  // namespace

Cores Cores::find() {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  int allowed = cores_allowed_to(0);
  if (allowed == 0) allowed = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const double quota = quota_of(getpid()).value_or(unlimited);
  const double own = std::min<double>(allowed, quota);
  // A container does not show who started it.
  const double around =
      std::min<double>(std::max(allowed, cores_allowed_to(getppid())), quota_of(getppid()).value_or(quota));
  return {own, std::max(own, around)};
}

int Cores::share_of(int ranks) const {
  return std::max(1, static_cast<int>(std::min(own, host / std::max(1, ranks))));
}

}  // namespace foldstep::cpu
