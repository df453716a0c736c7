#include "cpu/mpi/mpi_transport.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "cpu/mpi/session.hpp"
#include "cpu/mpi/staged_request.hpp"
#include "cpu/mpi/threaded_request.hpp"
#include "runtime/error.hpp"

namespace foldstep::cpu {
namespace {

/// Pieces of large operations: far below what an int counts, and small enough that the copies which MPI's
/// collectives make are no matter; large enough that cutting costs nothing.
constexpr std::size_t reduction_piece = std::size_t{1} << 20;  // elements
constexpr std::size_t byte_piece = std::size_t{1} << 22;

constexpr int all_to_all_tag = 32002;

std::size_t pieces(std::size_t whole, std::size_t piece) {
  return (whole + piece - 1) / piece;
}

/// Length of piece i, as MPI counts.
int length_of(std::size_t i, std::size_t whole, std::size_t piece) {
  return static_cast<int>(std::min(piece, whole - i * piece));
}

const std::byte* at(const void* base, std::size_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}
std::byte* at(void* base, std::size_t offset) {
  return static_cast<std::byte*>(base) + offset;
}

MPI_Datatype mpi_type(DType type) {
  switch (type) {
    case DType::F32:
      return MPI_FLOAT;
    case DType::F64:
      return MPI_DOUBLE;
    case DType::I32:
      return MPI_INT32_T;
    case DType::U8:
      return MPI_UINT8_T;
    case DType::BF16:
      break;
  }
  throw Error(Code::InvalidDtype, "MPI does not reduce " + std::string(name_of(type)));
}

MPI_Op mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::Max:
      return MPI_MAX;
    case ReduceOp::Min:
      return MPI_MIN;
    case ReduceOp::Sum:
      break;
  }
  return MPI_SUM;
}

/// Posts a message in pieces; an empty one is one empty piece.
template <typename PostPiece>
int post_pieces(std::size_t bytes, int member, UnderWay& under_way, PostPiece post_piece) {
  for (std::size_t i = 0; i < std::max<std::size_t>(1, pieces(bytes, byte_piece)); ++i) {
    const int result = post_piece(i * byte_piece, length_of(i, bytes, byte_piece), under_way.add(member));
    if (result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
}

int post_send(const void* data, std::size_t bytes, int to, int tag, MPI_Comm comm, UnderWay& under_way) {
  return post_pieces(bytes, to, under_way, [=](std::size_t offset, int length, MPI_Request* request) {
    return MPI_Isend(at(data, offset), length, MPI_BYTE, to, tag, comm, request);
  });
}

int post_receive(void* data, std::size_t bytes, int from, int tag, MPI_Comm comm, UnderWay& under_way) {
  return post_pieces(bytes, from, under_way, [=](std::size_t offset, int length, MPI_Request* request) {
    return MPI_Irecv(at(data, offset), length, MPI_BYTE, from, tag, comm, request);
  });
}

/// Makes a type of `length` bytes whose next element begins `stride` bytes on.
int create_strided(int length, std::size_t stride, MPI_Datatype* type) {
  MPI_Datatype block = MPI_DATATYPE_NULL;
  int result = MPI_Type_contiguous(length, MPI_BYTE, &block);
  if (result != MPI_SUCCESS) return result;
  result = MPI_Type_create_resized(block, 0, static_cast<MPI_Aint>(stride), type);
  MPI_Type_free(&block);
  return result == MPI_SUCCESS ? MPI_Type_commit(type) : result;
}

}  // namespace

std::unique_ptr<Transport> MpiTransport::of_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  Session::get().blocking_call("MPI_Comm_dup", [&] { return MPI_Comm_dup(MPI_COMM_WORLD, &copy); });
  return std::make_unique<MpiTransport>(copy);
}

MpiTransport::MpiTransport(MPI_Comm comm) : comm_(comm) {
  Session::get().call("MPI_Comm_group", [this] {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    world_ranks_.resize(static_cast<std::size_t>(size_));
    std::vector<int> members(world_ranks_.size());
    std::iota(members.begin(), members.end(), 0);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(comm_, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int result = MPI_Group_translate_ranks(group, size_, members.data(), world, world_ranks_.data());
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return result;
  });
}

MpiTransport::~MpiTransport() {
  try {
    Session::get().call("MPI_Comm_free", [this] { return MPI_Comm_free(&comm_); });
  } catch (const Error&) {
    // After finalization there is nothing left to free.
  }
}

Transport::Pending MpiTransport::send(const void* data, std::size_t bytes, int to, int tag) {
  return std::make_unique<StagedRequest>("MPI_Isend", 1, [=, this](std::size_t, UnderWay& under_way) {
    return post_send(data, bytes, to, tag, comm_, under_way);
  });
}

Transport::Pending MpiTransport::receive(void* data, std::size_t bytes, int from, int tag) {
  return std::make_unique<StagedRequest>("MPI_Irecv", 1, [=, this](std::size_t, UnderWay& under_way) {
    return post_receive(data, bytes, from, tag, comm_, under_way);
  });
}

Transport::Pending MpiTransport::all_reduce(void* data, std::size_t count, DType type, ReduceOp op) {
  return std::make_unique<StagedRequest>(
      "MPI_Iallreduce", pieces(count, reduction_piece),
      [=, this, element = mpi_type(type)](std::size_t i, UnderWay& under_way) {
        return MPI_Iallreduce(MPI_IN_PLACE, at(data, i * reduction_piece * size_of(type)),
                              length_of(i, count, reduction_piece), element, mpi_op(op), comm_,
                              under_way.add());
      });
}

Transport::Pending MpiTransport::reduce_scatter(const void* source, void* target, std::size_t count,
                                                DType type, ReduceOp op) {
  // One reduction to each member rather than MPI_Ireduce_scatter_block: a piece of every member's part is not
  // contiguous.
  return std::make_unique<StagedRequest>(
      "MPI_Ireduce", pieces(count, reduction_piece),
      [=, this, element = mpi_type(type)](std::size_t i, UnderWay& under_way) {
        const std::size_t begin = i * reduction_piece;
        for (int root = 0; root < size_; ++root) {
          const std::size_t part = static_cast<std::size_t>(root) * count;
          const int result = MPI_Ireduce(
              at(source, (part + begin) * size_of(type)), at(target, begin * size_of(type)),
              length_of(i, count, reduction_piece), element, mpi_op(op), root, comm_, under_way.add());
          if (result != MPI_SUCCESS) return result;
        }
        return MPI_SUCCESS;
      });
}

Transport::Pending MpiTransport::all_gather(const void* source, void* target, std::size_t bytes) {
  return std::make_unique<StagedRequest>(
      "MPI_Iallgather", pieces(bytes, byte_piece), [=, this](std::size_t i, UnderWay& under_way) {
        const int length = length_of(i, bytes, byte_piece);
        const std::byte* from = at(source, i * byte_piece);
        std::byte* to = at(target, i * byte_piece);
        MPI_Request* const request = under_way.add();
        if (bytes <= byte_piece) {
          return MPI_Iallgather(from, length, MPI_BYTE, to, length, MPI_BYTE, comm_, request);
        }
        MPI_Datatype piece = MPI_DATATYPE_NULL;
        int result = create_strided(length, bytes, &piece);
        if (result != MPI_SUCCESS) return result;
        result = MPI_Iallgather(from, length, MPI_BYTE, to, 1, piece, comm_, request);
        MPI_Type_free(&piece);
        return result;
      });
}

Transport::Pending MpiTransport::broadcast(void* data, std::size_t bytes, int root) {
  return std::make_unique<StagedRequest>(
      "MPI_Ibcast", pieces(bytes, byte_piece), [=, this](std::size_t i, UnderWay& under_way) {
        return MPI_Ibcast(at(data, i * byte_piece), length_of(i, bytes, byte_piece), MPI_BYTE, root, comm_,
                          under_way.add());
      });
}

Transport::Pending MpiTransport::all_to_all(const void* source, const std::vector<std::size_t>& send_bytes,
                                            const std::vector<std::size_t>& send_offsets, void* target,
                                            const std::vector<std::size_t>& receive_bytes,
                                            const std::vector<std::size_t>& receive_offsets) {
  // Messages rather than MPI_Ialltoallv, whose offsets are ints. The vectors are only read here, while
  // posting.
  return std::make_unique<StagedRequest>("all-to-all", 1, [&, this](std::size_t, UnderWay& under_way) {
    for (int step = 1; step < size_; ++step) {
      const int from = (rank_ + size_ - step) % size_;
      const auto i = static_cast<std::size_t>(from);
      if (receive_bytes[i] == 0) continue;
      const int result = post_receive(at(target, receive_offsets[i]), receive_bytes[i], from, all_to_all_tag,
                                      comm_, under_way);
      if (result != MPI_SUCCESS) return result;
    }
    for (int step = 1; step < size_; ++step) {
      const int to = (rank_ + step) % size_;
      const auto i = static_cast<std::size_t>(to);
      if (send_bytes[i] == 0) continue;
      const int result =
          post_send(at(source, send_offsets[i]), send_bytes[i], to, all_to_all_tag, comm_, under_way);
      if (result != MPI_SUCCESS) return result;
    }
    const auto self = static_cast<std::size_t>(rank_);
    if (send_bytes[self] != 0) {
      std::memcpy(at(target, receive_offsets[self]), at(source, send_offsets[self]), send_bytes[self]);
    }
    return MPI_SUCCESS;
  });
}

Transport::Pending MpiTransport::barrier() {
  return std::make_unique<StagedRequest>("MPI_Ibarrier", 1, [this](std::size_t, UnderWay& under_way) {
    return MPI_Ibarrier(comm_, under_way.add());
  });
}

bool MpiTransport::has_left(int rank) {
  return Session::get().has_left(world_ranks_[static_cast<std::size_t>(rank)]);
}

Transport::Pending MpiTransport::split(int color, int key, std::unique_ptr<Transport>& part) {
  return std::make_unique<ThreadedRequest>([=, this, &part] {
    MPI_Comm made = MPI_COMM_NULL;
    Session::get().blocking_call("MPI_Comm_split", [&] { return MPI_Comm_split(comm_, color, key, &made); });
    part = std::make_unique<MpiTransport>(made);
  });
}

}  // namespace foldstep::cpu
