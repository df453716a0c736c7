// Members that do something else or come late, and requests that cannot be.
#include <chrono>
#include <thread>

#include "fold_job.hpp"

using namespace foldstep;
using namespace foldstep::test;

namespace {

AccumulateRequest request_of(const Team& team, const std::shared_ptr<Memory>& memory, Path path) {
  AccumulateRequest request;
  request.path = path;
  request.geometry = {0, 100, team.communicator->size(), 100};
  request.gradient = {memory, 0};
  request.accumulator = {memory, 512};
  return request;
}

/// Runs `body` on a group and a window of its own, which it may leave unusable.
void with_team(FoldJob& job, bool with_window,
               const std::function<void(const Team&, const std::shared_ptr<Memory>&)>& body) {
  const std::shared_ptr<Communicator> group = split(job.stream, *job.world.communicator, 0);
  const std::shared_ptr<PeerWindow> window = with_window ? job.window(group, 4096) : nullptr;
  body({group, window, 0}, with_window ? window->slab() : job.backend->allocate(4096));
}

/// Every member enqueues `usual`, the last one what `change` makes of it; all must be told.
Error mismatch(FoldJob& job, const Team& team, AccumulateRequest usual,
               const std::function<void(AccumulateRequest&)>& change) {
  if (team.communicator->rank() == team.communicator->size() - 1) change(usual);
  job.enqueue(team, usual);
  return expect_error(Code::OperationMismatch, [&] { finish(job.stream); });
}

/// A backend of another deadline in the place of the job's, until it goes out of scope, also by an exception.
class Impatient {
 public:
  Impatient(FoldJob& job, std::chrono::milliseconds deadline)
      : job_(job),
        patient_(std::exchange(job.backend, create_cpu_backend({deadline, 0, job.world.local_size}))) {}
  ~Impatient() { job_.backend = patient_; }

 private:
  FoldJob& job_;
  std::shared_ptr<Backend> patient_;
};

}  // namespace

int main() {
  using namespace std::chrono_literals;
  FoldJob job;

  for (const Path path : {Path::Direct, Path::Exchange}) {
    for (const bool with_window : {true, false}) {
      if (path == Path::Direct && !with_window) continue;
      const std::string where = name_of_path(path) + (with_window ? " with a window" : " without a window");
      job.test(where + ": another length is shown to every member, and nothing is changed", [&] {
        with_team(job, with_window, [&](const Team& team, const std::shared_ptr<Memory>& memory) {
          const Error error = mismatch(job, team, request_of(team, memory, path),
                                       [](AccumulateRequest& other) { other.geometry.end = 93; });
          expect_text(error, "100");
          expect_text(error, "93");
          expect(*Span{memory, 512}.as<float>() == 0, "the accumulator was written");
        });
      });
      job.test(where + ": another operation is shown to every member", [&] {
        with_team(job, with_window, [&](const Team& team, const std::shared_ptr<Memory>& memory) {
          const AccumulateRequest request = request_of(team, memory, path);
          if (team.communicator->rank() == 0) {
            job.enqueue(team, ReduceRequest{path, DType::BF16, false, 1, request.geometry, request.gradient});
          } else {
            job.enqueue(team, request);
          }
          const Error error = expect_error(Code::OperationMismatch, [&] { finish(job.stream); });
          expect_text(error, "reduce");
          expect_text(error, "accumulate");
        });
      });
    }
  }

  const std::pair<const char*, std::function<void(AccumulateRequest&)>> changes[] = {
      {"path", [](AccumulateRequest& r) { r.path = Path::Exchange; }},
      {"scale", [](AccumulateRequest& r) { r.scale = 0.5F; }},
      {"type", [](AccumulateRequest& r) { r.gradient_type = DType::F32; }},
      {"mirror", [](AccumulateRequest& r) { r.mirror = true; }},
      {"accumulation", [](AccumulateRequest& r) { r.accumulation = Accumulation::BF16; }},
      {"beginning", [](AccumulateRequest& r) { r.geometry.begin = 1; }},
      {"replicas", [](AccumulateRequest& r) { r.geometry.replicas = 1; }},
  };
  for (const auto& [what, change] : changes) {
    job.test(std::string("another ") + what + " is found out in shared memory", [&, &change = change] {
      with_team(job, true, [&](const Team& team, const std::shared_ptr<Memory>& memory) {
        mismatch(job, team, request_of(team, memory, Path::Direct), change);
      });
    });
  }

  job.test("after a mismatch the window throws the same error at once", [&] {
    with_team(job, true, [&](const Team& team, const std::shared_ptr<Memory>& memory) {
      const AccumulateRequest request = request_of(team, memory, Path::Owner);
      const Error first =
          mismatch(job, team, request, [](AccumulateRequest& other) { other.geometry.end = 64; });
      job.enqueue(team, request);
      const Error second = expect_error(Code::OperationMismatch, [&] { finish(job.stream); });
      expect(std::string(first.what()) == second.what(), "another error");
    });
  });

  job.test("a rank that comes after the deadline is named on every member, and told", [&] {
    // Far more than a host with fewer processors than ranks lets one of them wait for its turn.
    const Impatient impatient{job, 4000ms};
    with_team(job, true, [&](const Team& team, const std::shared_ptr<Memory>& memory) {
      const int last = team.communicator->size() - 1;
      team.communicator->barrier(job.stream);
      finish(job.stream);
      if (team.communicator->rank() == last) std::this_thread::sleep_for(7000ms);
      const auto start = std::chrono::steady_clock::now();
      job.enqueue(team, request_of(team, memory, Path::Direct));
      const Error error = expect_error(Code::DeadlineExceeded, [&] { finish(job.stream); });
      expect(error.peer() == last, "the peer is " + std::to_string(error.peer()));
      expect_text(error, "for rank " + std::to_string(last));
      expect(std::chrono::steady_clock::now() - start < 6500ms, "it took longer than the deadline");
    });
  });

  job.test("requests that cannot be are refused at once, and the team stays usable", [&] {
    with_team(job, true, [&](const Team& team, const std::shared_ptr<Memory>& memory) {
      const AccumulateRequest good = request_of(team, memory, Path::Direct);
      const auto refused = [&](Code code, const std::function<void(AccumulateRequest&, Team&)>& spoil) {
        AccumulateRequest request = good;
        Team other = team;
        spoil(request, other);
        expect_error(code, [&] { job.enqueue(other, request); });
      };
      const std::shared_ptr<Memory> elsewhere = job.backend->allocate(4096);
      const int members = team.communicator->size();
      refused(Code::PathUnavailable, [](auto&, Team& t) { t.window = nullptr; });
      refused(Code::PathUnavailable, [&](auto& r, Team&) { r.gradient.memory = elsewhere; });
      refused(Code::PathUnavailable,
              [&](auto& r, Team&) { r.path = Path::Owner, r.accumulator.memory = elsewhere; });
      refused(Code::InvalidArgument, [](auto&, Team& t) { t.channel = 16; });
      refused(Code::InvalidArgument, [](auto&, Team& t) { t.channel = -1; });
      refused(Code::InvalidArgument, [](auto&, Team& t) { t.communicator = nullptr; });
      refused(Code::InvalidArgument, [](auto& r, Team&) { r.gradient.memory = nullptr; });
      refused(Code::InvalidArgument, [&](auto& r, Team&) { r.geometry.replicas = members + 1; });
      refused(Code::InvalidArgument, [](auto& r, Team&) { r.geometry.replicas = 0; });
      refused(Code::InvalidDtype, [](auto& r, Team&) { r.gradient_type = DType::I32; });
      refused(Code::InvalidLength, [](auto& r, Team&) { r.geometry.begin = 101; });
      refused(Code::InvalidLength, [](auto& r, Team&) { r.geometry.end = 101; });
      refused(Code::InvalidLength, [](auto& r, Team&) { r.gradient.offset = 4096 - 199; });
      refused(Code::InvalidLength, [](auto& r, Team&) { r.accumulator.offset = 4096 - 399; });
      refused(Code::InvalidLength, [](auto& r, Team&) {
        r.geometry.shard_length = ~std::size_t{0} / 4;
        r.geometry.end = r.geometry.shard_length;
      });
      expect_error(Code::InvalidArgument, [&] {
        job.enqueue(team, GatherRequest{Path::Direct, DType::BF16, good.geometry, good.gradient});
      });
      job.enqueue(team, good);
      finish(job.stream);
    });
  });
  return job.end();
}
