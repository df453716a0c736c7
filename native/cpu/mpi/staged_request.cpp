#include "cpu/mpi/staged_request.hpp"

#include <utility>

#include "cpu/mpi/session.hpp"

namespace foldstep::cpu {

MPI_Request* UnderWay::add(int member) {
  members_.push_back(member);
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

void UnderWay::clear() {
  requests_.clear();
  members_.clear();
}

int UnderWay::test(bool& ended) {
  int all = 0;
  const int result =
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
  ended = all != 0;
  return result;
}

int UnderWay::awaited(std::vector<int>& members) {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    int ended = 0;
    const int result = MPI_Request_get_status(requests_[i], &ended, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS) return result;
    if (ended == 0 && members_[i] != no_member) members.push_back(members_[i]);
  }
  return MPI_SUCCESS;
}

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
    bool ended = false;
    int result = under_way_.test(ended);
    if (result != MPI_SUCCESS || !ended) return result;
    done = posted_ == stages_;
    if (!done) result = post_next();
    return result;
  });
  return done;
}

std::vector<int> StagedRequest::awaited() {
  std::vector<int> members;
  Session::get().call(what_, [&] { return under_way_.awaited(members); });
  return members;
}

}  // namespace foldstep::cpu
