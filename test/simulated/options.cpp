#include "options.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string>

namespace foldstep::simulated {
namespace {

int first_of(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* variable : variables) {
    if (const char* value = std::getenv(variable)) return std::atoi(value);
  }
  return otherwise;
}

Options read() {
  Options options;
  options.rank = first_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}, 0);
  options.devices =
      first_of({"FOLDSTEP_SIMULATED_DEVICES", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1);
  const char* text = std::getenv("FOLDSTEP_SIMULATE");
  std::istringstream words(text != nullptr ? text : "");
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const long long value = equals == std::string::npos ? 0 : std::atoll(word.c_str() + equals + 1);
    if (name == "seed") {
      options.seed = static_cast<std::uint64_t>(value);
    } else if (name == "delay") {
      options.delay = true;
    } else if (name == "no-driver") {
      options.no_driver = true;
    } else if (name == "no-ipc") {
      options.no_ipc = true;
    } else if (name == "null-window") {
      options.null_window = true;
    } else if (name == "fail-allocation") {
      options.fail_allocation = static_cast<int>(value);
    } else if (name == "drop-rank") {
      options.drops = value == options.rank;
    } else if (name == "drop-after") {
      options.drop_after = static_cast<int>(value);
    } else if (name == "idle-limit-ms") {
      options.idle_limit = std::chrono::milliseconds(value);
    } else {
      std::fprintf(stderr, "FOLDSTEP_SIMULATE: nothing is called \"%s\"\n", name.c_str());
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

const Options& options() {
  static const Options read_once = read();
  return read_once;
}

bool answers() {
  static std::atomic<int> asked{0};
  return !options().drops || asked++ < options().drop_after;
}

}  // namespace foldstep::simulated
