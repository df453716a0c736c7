#include "nccl_group.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "stream.hpp"

namespace foldstep::simulated {
namespace {

struct Name {
  int creator;  ///< its rank in MPI's world
  int serial;
};

/// What a rank tells of itself when a group forms.
struct Introduction {
  int rank;
  int world_rank;
  int size;
  char device[16];
};

constexpr int names = 10'000;  ///< of one creator before their tags come again
constexpr int tag_of_introductions = 1000;
constexpr int tag_of_members = tag_of_introductions + names;

void check(int result, const char* what) {
  if (result != MPI_SUCCESS) throw NcclFailure(ncclSystemError, std::string(what) + " of MPI failed");
}

bool mpi_is_open() {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

int world_rank() {
  int rank = 0;
  if (mpi_is_open()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof value};
}

template <typename T>
T value_of(const std::vector<std::byte>& bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Messages under way. MPI may touch their memory for as long as they are.
struct Flight {
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::vector<MPI_Request> requests;

  bool landed() {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
          "a message");
    return done != 0;
  }
};

}  // namespace

ncclUniqueId name_a_group() {
  static std::atomic<int> serial{0};
  const Name name{world_rank(), serial++ % names};
  ncclUniqueId id{};
  std::memcpy(&id, &name, sizeof name);
  return id;
}

void Group::check_alive() const {
  if (aborted_ || (size_ > 1 && !mpi_is_open())) {
    throw NcclFailure(ncclRemoteError, "the communicator was aborted");
  }
}

void Group::exchange(std::vector<Message> sends, std::vector<Message>& receives, int tag) {
  check_alive();
  // On the heap, and left there where it never lands.
  auto* flight = new Flight{std::move(sends), std::move(receives), {}};
  for (Message& message : flight->receives) {
    check(MPI_Irecv(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE, message.peer, tag,
                    comm_, &flight->requests.emplace_back()),
          "MPI_Irecv");
  }
  for (Message& message : flight->sends) {
    check(MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE, message.peer, tag,
                    comm_, &flight->requests.emplace_back()),
          "MPI_Isend");
  }
  while (!flight->landed()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    check_alive();
  }
  receives = std::move(flight->receives);
  delete flight;
}

std::vector<Message> Group::gather(const std::vector<std::byte>& mine, int tag) {
  std::vector<Message> sends;
  std::vector<Message> receives;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    sends.push_back({peer, mine});
    receives.push_back({peer, std::vector<std::byte>(mine.size())});
  }
  if (size_ > 1) exchange(std::move(sends), receives, tag);
  receives.insert(receives.begin() + rank_, Message{rank_, mine});
  return receives;
}

void Group::form(const ncclUniqueId& id, int rank, int size) {
  rank_ = rank;
  size_ = size;
  world_ranks_ = {world_rank()};
  if (size == 1) return;
  if (!mpi_is_open()) throw NcclFailure(ncclSystemError, "several ranks need MPI, which is not initialized");
  Name name{};
  std::memcpy(&name, &id, sizeof name);
  Introduction mine{rank, world_rank(), size, {}};
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, current_device()) != cudaSuccess) {
    throw NcclFailure(ncclUnhandledCudaError, "there is no device");
  }
  std::memcpy(mine.device, properties.uuid.bytes, sizeof mine.device);

  // All introduce themselves to the creator, who tells each of all.
  comm_ = MPI_COMM_WORLD;
  std::vector<Message> heard;
  std::vector<Introduction> members(static_cast<std::size_t>(size));
  const std::size_t bytes = members.size() * sizeof(Introduction);
  if (mine.world_rank == name.creator) {
    members[static_cast<std::size_t>(rank)] = mine;
    for (int i = 1; i < size; ++i) heard.push_back({MPI_ANY_SOURCE, std::vector<std::byte>(sizeof mine)});
    exchange({}, heard, tag_of_introductions + name.serial);
    std::vector<Message> told;
    for (const Message& message : heard) {
      const auto member = value_of<Introduction>(message.bytes);
      members.at(static_cast<std::size_t>(member.rank)) = member;
      told.push_back({member.world_rank, {}});
    }
    for (Message& message : told) {
      const auto* first = reinterpret_cast<const std::byte*>(members.data());
      message.bytes.assign(first, first + bytes);
    }
    std::vector<Message> nothing;
    exchange(std::move(told), nothing, tag_of_members + name.serial);
  } else {
    std::vector<Message> nothing;
    exchange({{name.creator, bytes_of(mine)}}, nothing, tag_of_introductions + name.serial);
    heard = {{name.creator, std::vector<std::byte>(bytes)}};
    exchange({}, heard, tag_of_members + name.serial);
    std::memcpy(members.data(), heard[0].bytes.data(), bytes);
  }

  std::vector<int> world_ranks;
  for (const Introduction& member : members) {
    if (member.size != size) throw NcclFailure(ncclInvalidArgument, "ranks disagree about their number");
    if (member.rank != rank && std::memcmp(member.device, mine.device, sizeof mine.device) == 0) {
      throw NcclFailure(ncclInvalidUsage, "ranks " + std::to_string(rank) + " and " +
                                              std::to_string(member.rank) + " have the same device");
    }
    world_ranks.push_back(member.world_rank);
  }
  create(world_ranks, tag_of_introductions + name.serial);
}

void Group::split_from(Group& whole, int color, int key, int tag) {
  struct Choice {
    int color;
    int key;
    int rank;
  };
  std::vector<Choice> members;
  for (const Message& message : whole.gather(bytes_of(Choice{color, key, whole.rank_}), tag)) {
    const auto choice = value_of<Choice>(message.bytes);
    if (choice.color == color) members.push_back(choice);
  }
  if (color == NCCL_SPLIT_NOCOLOR) return;
  std::sort(members.begin(), members.end(), [](const Choice& a, const Choice& b) {
    return std::tie(a.key, a.rank) < std::tie(b.key, b.rank);
  });
  std::vector<int> world_ranks;
  size_ = static_cast<int>(members.size());
  for (const Choice& member : members) {
    if (member.rank == whole.rank_) rank_ = static_cast<int>(world_ranks.size());
    world_ranks.push_back(whole.world_ranks_[static_cast<std::size_t>(member.rank)]);
  }
  create(world_ranks, tag);
}

void Group::create(const std::vector<int>& world_ranks, int tag) {
  world_ranks_ = world_ranks;
  if (size_ == 1) return;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, size_, world_ranks.data(), &members);
  const int result = MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &comm_);
  MPI_Group_free(&world);
  MPI_Group_free(&members);
  check(result, "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

}  // namespace foldstep::simulated
