// What is read from the variables of launchers, above all where several have left theirs.
#include <cstdlib>
#include <initializer_list>
#include <utility>
#include <vector>

#include "check.hpp"
#include "cpu/comm/launcher.hpp"

using namespace foldstep::cpu;

namespace {

/// Sets variables for as long as it lives.
class Environment {
 public:
  using Variable = std::pair<const char*, const char*>;
  explicit Environment(std::initializer_list<Variable> variables) : variables_(variables) {
    for (const auto& [name, value] : variables_) setenv(name, value, 1);
  }
  ~Environment() {
    for (const auto& variable : variables_) unsetenv(variable.first);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<Variable> variables_;
};

/// As mpirun sets them, started from a batch script of eight tasks.
std::string job_of(const char* pmix_namespace) {
  const Environment environment{{"OMPI_COMM_WORLD_RANK", "1"},
                                {"OMPI_COMM_WORLD_SIZE", "4"},
                                {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                {"PMIX_RANK", "1"},
                                {"SLURM_NTASKS", "8"},
                                {"SLURM_PROCID", "0"},
                                {"SLURM_STEP_NUM_TASKS", "8"},
                                {"SLURM_JOB_ID", "7"},
                                {"PMIX_NAMESPACE", pmix_namespace}};
  const auto launch = this_launch();
  CHECK(launch && launch->offers_mpi);
  CHECK(launch->rank == 1 && launch->size == 4 && launch->local_size == 2 && !launch->on_one_host());
  return launch->job;
}

}  // namespace

int main() {
  Tests test;

  test("mpirun counts before the allocation that it runs in, and names its job",
       [] { CHECK(!job_of("1").empty() && job_of("1") != job_of("2") && job_of("1") == job_of("1")); });

  test("srun tells with PMIx how many tasks its step has; another launcher with PMIx inside does not", [] {
    const Environment step{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"PMIX_RANK", "1"}};
    {
      const Environment slurm{{"PMIX_NAMESPACE", "slurm.pmix.7.0"}};
      CHECK(this_launch()->offers_mpi && this_launch()->matches(1, 2) && !this_launch()->matches(0, 1));
    }
    const Environment prrte{{"PMIX_NAMESPACE", "prterun-host-1@1"}};
    CHECK(this_launch()->matches(1, 4) && !this_launch()->matches(0, 4));
  });

  test("two jobs of MPICH's in one allocation are not taken for one", [] {
    const Environment environment{{"PMI_RANK", "0"},     {"PMI_SIZE", "2"},      {"MPI_LOCALNRANKS", "2"},
                                  {"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}};
    CHECK(this_launch()->job.empty() && this_launch()->on_one_host());
  });

  test("what is no count is not told", [] {
    for (const char* text : {"", "two", "-1", "2x", "99999999999999999999"}) {
      const Environment environment{{"PMI_SIZE", text}};
      CHECK(this_launch()->size == -1 && this_launch()->matches(0, 1));
    }
  });

  return test.finish();
}
