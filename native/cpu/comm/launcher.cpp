#include "cpu/comm/launcher.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace foldstep::cpu {
namespace {

/// A launcher, and the variables by which it tells a process of its place. Null: it has none for that.
struct Convention {
  const char* launcher;
  bool offers_mpi;
  const char* rank;
  const char* size;
  const char* local_size = nullptr;
  /// Of the job. Those that are set make its name; a batch system's allocation may hold several jobs.
  std::array<const char*, 3> job{};
  /// Where one of the variables above is not mark enough.
  bool (*applies)() = nullptr;
};

bool is_set(const char* name) {
  return name != nullptr && std::getenv(name) != nullptr;
}

int number(const char* name, int otherwise) {
  if (!is_set(name)) return otherwise;
  const std::string_view text = std::getenv(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc() || end != text.data() + text.size() || value < 0 ? otherwise : value;
}

bool slurm_brought_pmix() {
  const char* const name = std::getenv("PMIX_NAMESPACE");
  return name != nullptr && std::string_view(name).substr(0, 6) == "slurm.";
}

bool torchrun_started_this() {
  return is_set("TORCHELASTIC_RUN_ID");
}

/// The shell of a batch script has Slurm's variables of the whole allocation, and no step. Slurm numbers the
/// steps that are shells from the top of 32 bits, which number() does not take.
bool srun_started_this() {
  return number("SLURM_STEP_ID", -1) >= 0 || number("SLURM_PROCID", 0) > 0;
}

bool srun_counted_its_tasks() {
  return is_set("SLURM_STEP_NUM_TASKS");
}

// In the order in which they are asked: a launcher that can be started inside a process of another, and
// passes that one's variables on, comes before it.
constexpr std::array conventions{
    Convention{"Open MPI's launcher",
               true,
               "OMPI_COMM_WORLD_RANK",
               "OMPI_COMM_WORLD_SIZE",
               "OMPI_COMM_WORLD_LOCAL_SIZE",
               {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}},
    Convention{"MVAPICH's launcher", true, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
               "MV2_COMM_WORLD_LOCAL_SIZE"},
    Convention{"srun --mpi=pmix",
               true,
               "PMIX_RANK",
               "SLURM_STEP_NUM_TASKS",
               nullptr,
               {"PMIX_NAMESPACE"},
               slurm_brought_pmix},
    Convention{"a launcher with PMIx", true, "PMIX_RANK", nullptr, nullptr, {"PMIX_NAMESPACE"}},
    Convention{"a launcher with PMI, such as MPICH's mpiexec,",
               true,
               "PMI_RANK",
               "PMI_SIZE",
               "MPI_LOCALNRANKS",
               {"PALS_APID"}},
    Convention{"PALS", true, "PALS_RANKID", nullptr, nullptr, {"PALS_APID"}},
    Convention{"Flux", true, "FLUX_TASK_RANK", "FLUX_JOB_SIZE", nullptr, {"FLUX_JOB_ID"}},
    Convention{"jsrun", true, "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},
    Convention{"aprun", true, "ALPS_APP_PE", nullptr},
    Convention{"torchrun", false, "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", {}, torchrun_started_this},
    Convention{"srun", false, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr, {}, srun_counted_its_tasks},
    Convention{"srun", false, "SLURM_PROCID", "SLURM_NTASKS", nullptr, {}, srun_started_this},
};

bool applies(const Convention& launcher) {
  if (launcher.applies != nullptr) return launcher.applies();
  return is_set(launcher.rank) || is_set(launcher.size) || is_set(launcher.local_size);
}

}  // namespace

bool Launch::matches(int rank_in_world, int world_size) const {
  return (size < 0 || size == world_size) && (rank < 0 || rank == rank_in_world);
}

std::string Launch::describe() const {
  std::string text = std::string(launcher) + " started this process";
  std::string variables;
  if (rank >= 0) {
    text += " as rank " + std::to_string(rank);
    variables = std::string(rank_variable) + '=' + std::to_string(rank);
  }
  if (size >= 0) {
    text += (rank >= 0 ? " of " : " as one of ") + std::to_string(size);
    variables += (variables.empty() ? "" : ", ") + std::string(size_variable) + '=' + std::to_string(size);
  }
  return variables.empty() ? text : text + " (" + variables + ')';
}

std::optional<Launch> this_launch() {
  const auto found = std::find_if(conventions.begin(), conventions.end(), applies);
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
    if (is_set(name)) launch.job += std::string(name) + '=' + std::getenv(name) + '\n';
  }
  return launch;
}

}  // namespace foldstep::cpu
