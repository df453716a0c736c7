#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "cpu/comm/transport.hpp"

namespace foldstep::cpu {

/// The MPI requests of one stage of an operation.
class UnderWay {
 public:
  /// Where MPI puts a request; `member`: the other end of a message, none of a collective.
  MPI_Request* add(int member = no_member);
  void clear();
  /// Both give an MPI error code.
  int test(bool& ended);
  int awaited(std::vector<int>& members);

 private:
  static constexpr int no_member = -1;
  std::vector<MPI_Request> requests_;
  std::vector<int> members_;
};

/// An operation in stages: the MPI requests of one stage are under way together, and the next begins when all
/// have ended. So a large message is one operation although MPI counts in int and its collectives hold
/// copies.
class StagedRequest final : public Request {
 public:
  /// Posts one stage; gives an MPI error code. Called with the session locked.
  using Post = std::function<int(std::size_t stage, UnderWay& under_way)>;

  /// `what` names the MPI function in an error.
  StagedRequest(const char* what, std::size_t stages, Post post);
  bool test() override;
  std::vector<int> awaited() override;

 private:
  int post_next();

  const char* what_;
  std::size_t stages_;
  std::size_t posted_ = 0;
  Post post_;
  UnderWay under_way_;
};

}  // namespace foldstep::cpu
