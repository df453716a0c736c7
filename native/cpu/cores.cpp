#include "cpu/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

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
  int own = cores_allowed_to(0);
  if (own == 0) own = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return {own, std::max(own, cores_allowed_to(getppid()))};
}

int Cores::share_of(int ranks) const {
  return std::max(1, std::min(own, host / std::max(1, ranks)));
}

}  // namespace foldstep::cpu
