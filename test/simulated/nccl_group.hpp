#pragma once

#include <mpi.h>
#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace foldstep::simulated {

/// Thrown where an operation of a communicator does not come to its end.
struct NcclFailure : std::runtime_error {
  NcclFailure(ncclResult_t result, const std::string& what) : std::runtime_error(what), result(result) {}
  ncclResult_t result;
};

/// A message to or from a member.
struct Message {
  int peer = 0;
  std::vector<std::byte> bytes;
};

/// Ranks that send each other messages. Waiting sleeps, and ends with ncclRemoteError once the group is
/// aborted.
class Group {
 public:
  /// Comes back when all `size` ranks that `id` names have come.
  void form(const ncclUniqueId& id, int rank, int size);
  /// This rank's part of `whole`: members of the same color, ordered by key.
  void split_from(Group& whole, int color, int key, int tag);

  int rank() const { return rank_; }
  int size() const { return size_; }
  void abort() { aborted_ = true; }
  bool aborted() const { return aborted_; }
  void check_alive() const;

  /// Sends and receives all of these; `receives` have the sizes that are expected. Between two members
  /// messages of one tag keep their order.
  void exchange(std::vector<Message> sends, std::vector<Message>& receives, int tag);
  /// One message of the same size from every member, this rank's own included.
  std::vector<Message> gather(const std::vector<std::byte>& mine, int tag);

 private:
  void create(const std::vector<int>& world_ranks, int tag);

  int rank_ = 0;
  int size_ = 1;
  std::vector<int> world_ranks_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::atomic<bool> aborted_{false};
};

/// A new group's name. Only ranks of the same MPI job may use it.
ncclUniqueId name_a_group();

}  // namespace foldstep::simulated
