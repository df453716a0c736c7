#include "launch/guard.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "launch/arguments_file.hpp"
#include "launch/channel.hpp"
#include "launch/signals.hpp"

namespace foldstep::launch {

namespace {

constexpr int supervisor_is_gone = 1;

/// Each launcher tells a process its rank by a variable of its own; without a launcher there is one rank.
int rank_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  }
  return 0;
}

pid_t start_rank(const std::array<Descriptor, 4>& files) {
  const std::vector<std::string> program = read_arguments(files[3].number());
  const pid_t guard = getpid();
  const pid_t rank = fork();
  if (rank != 0) return rank;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(supervisor_is_gone);
  for (int i = 0; i < 3; i++) dup2(files[static_cast<std::size_t>(i)].number(), i);
  execute(program);
}

/// The launcher and the supervisor signal the whole group, and the rank with it.
[[noreturn]] void kill_group() {
  kill(0, SIGKILL);
  _exit(supervisor_is_gone);
}

/// What the rank's end looks like to the launcher.
int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  return 128 + number;
}

}  // namespace

int guard_rank(const std::string& name) {
  // The launcher signals groups. Open MPI makes one for each rank; others leave that to the rank.
  setpgid(0, 0);
  const Descriptor signals = receive_signals({SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD});
  const Descriptor socket = connect_in_kernel(name);
  if (!send_message(socket.number(), {Kind::Hello, rank_by_launcher()})) return supervisor_is_gone;
  std::array<Descriptor, 4> files;
  const auto answer = receive_message(socket.number(), &files);
  if (!answer || answer->kind != Kind::Start) return supervisor_is_gone;
  const pid_t rank = start_rank(files);
  if (rank < 0) return supervisor_is_gone;
  // Only the rank may keep them open: their reader waits for the last to close them.
  for (Descriptor& file : files) file.close();

  Message ended{Kind::Ended};
  for (bool running = true; running;) {
    std::array<pollfd, 2> waiting{{{signals.number(), POLLIN, 0}, {socket.number(), POLLIN, 0}}};
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[1].revents != 0) kill_group();
    signalfd_siginfo received{};
    if (waiting[0].revents == 0 || read(signals.number(), &received, sizeof received) <= 0) continue;
    if (received.ssi_signo == SIGCHLD) {
      running = waitpid(rank, &ended.value, WNOHANG) != rank;
    } else if (is_end_signal(static_cast<int>(received.ssi_signo)) &&
               static_cast<pid_t>(received.ssi_pid) == getppid()) {
      send_message(socket.number(), {Kind::Asked});
    }
  }
  if (!send_message(socket.number(), ended)) kill_group();
  // Until the supervisor agrees: the launcher ends all other ranks a second after it sees one end badly.
  if (!receive_message(socket.number())) kill_group();
  return end_like(ended.value);
}

}  // namespace foldstep::launch
