#include "cpu/mpi/staged_request.hpp"

#include <utility>

#include "cpu/mpi/session.hpp"

namespace foldstep::cpu {

StagedRequest::StagedRequest(const char* what, std::size_t stages, Post post)
    : what_(what), stages_(stages), post_(std::move(post)) {
  if (stages_ > 0) Session::get().call(what_, [this] { return post_next(); });
}

int StagedRequest::post_next() {
  under_way_.clear();
  return post_(posted_++, under_way_);
}

bool StagedRequest::test() {
  bool done = stages_ == 0;
  if (done) return true;
  Session::get().call(what_, [&] {
    int ended = 0;
    int result =
        MPI_Testall(static_cast<int>(under_way_.size()), under_way_.data(), &ended, MPI_STATUSES_IGNORE);
    if (result != MPI_SUCCESS || ended == 0) return result;
    done = posted_ == stages_;
    if (!done) result = post_next();
    return result;
  });
  return done;
}

}  // namespace foldstep::cpu
