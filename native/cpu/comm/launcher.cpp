#include "cpu/comm/launcher.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace foldstep::cpu {
namespace {

/// A launcher, and the variables by which it tells a process of its place. Null: it has none for that.
struct Convention {
  const char* launcher;
  bool offers_mpi;
  const char* rank;
  const char* size;
  const char* local_size = nullptr;
  std::array<const char*, 3> job{};
};

// In the order in which they are asked: a launcher that can be started inside a process of another, and
// passes that one's variables on, comes before it.
constexpr std::array conventions{
    Convention{"Open MPI's launcher",
               true,
               "OMPI_COMM_WORLD_RANK",
               "OMPI_COMM_WORLD_SIZE",
               "OMPI_COMM_WORLD_LOCAL_SIZE",
               {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}},
    Convention{"MVAPICH's launcher",
               true,
               "MV2_COMM_WORLD_RANK",
               "MV2_COMM_WORLD_SIZE",
               "MV2_COMM_WORLD_LOCAL_SIZE",
               {"MPIRUN_ID"}},
    Convention{"a launcher with PMIx", true, "PMIX_RANK", nullptr, nullptr, {"PMIX_NAMESPACE"}},
    Convention{"a launcher with PMI (MPICH's mpiexec, srun --mpi=pmi2)",
               true,
               "PMI_RANK",
               "PMI_SIZE",
               "MPI_LOCALNRANKS",
               {"SLURM_JOB_ID", "SLURM_STEP_ID", "PALS_APID"}},
    Convention{"PALS", true, "PALS_RANKID", nullptr, nullptr, {"PALS_APID"}},
    Convention{"Flux", true, "FLUX_TASK_RANK", "FLUX_JOB_SIZE", nullptr, {"FLUX_JOB_ID"}},
    Convention{"jsrun", true, "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_SIZE"},
    Convention{"aprun", true, "ALPS_APP_PE", nullptr, nullptr, {"ALPS_APP_ID"}},
};

const char* variable(const char* name) {
  return name == nullptr ? nullptr : std::getenv(name);
}

int number(const char* name, int otherwise) {
  const char* const text = variable(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return end == text || *end != '\0' || value < 0 ? otherwise : static_cast<int>(value);
}

}  // namespace

std::optional<Launch> this_launch() {
  const auto found = std::find_if(conventions.begin(), conventions.end(), [](const Convention& launcher) {
    return variable(launcher.rank) != nullptr || variable(launcher.size) != nullptr ||
           variable(launcher.local_size) != nullptr;
  });
  if (found == conventions.end()) return std::nullopt;
  Launch launch;
  launch.launcher = found->launcher;
  launch.offers_mpi = found->offers_mpi;
  launch.rank = number(found->rank, -1);
  launch.size = number(found->size, -1);
  launch.local_size = number(found->local_size, 0);
  launch.rank_variable = found->rank;
  launch.size_variable = found->size;
  for (const char* name : found->job) {
    if (const char* const value = variable(name)) launch.job += std::string(name) + '=' + value + '\n';
  }
  return launch;
}

}  // namespace foldstep::cpu
