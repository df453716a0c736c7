#include "fold/prepare.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "fold/checks.hpp"
#include "fold/paths.hpp"
#include "runtime/error.hpp"

namespace foldstep::fold {

namespace {

bool in_window(Path path) {
  return path == Path::Direct || path == Path::Owner;
}

/// FNV-1a of the members' world ranks: teams of different members are told apart by it.
std::uint64_t hash_of(const std::vector<int>& world_ranks) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const int rank : world_ranks) hash = (hash ^ static_cast<std::uint64_t>(rank)) * 0x100000001b3U;
  return hash;
}

/// What the members do on a path, chosen once.
template <typename Request>
struct Way {
  void (*alone)(const Pass&, const Request&);
  void (*in_window)(const Pass&, Peers&, const Request&);  ///< null: the members meet on the communicator
  void (*apart)(const Pass&, const Request&);
};

Way<AccumulateRequest> way_of(const AccumulateRequest& request) {
  switch (request.path) {
    case Path::Direct:
      return {accumulate_alone, direct_accumulate, nullptr};
    case Path::Owner:
      return {accumulate_alone, owner_accumulate, nullptr};
    case Path::Exchange:
      return {accumulate_alone, nullptr, exchange_accumulate};
    case Path::Library:
      break;
  }
  return {accumulate_alone, nullptr, library_accumulate};
}

Way<ReduceRequest> way_of(const ReduceRequest& request) {
  if (in_window(request.path)) return {reduce_alone, owner_reduce, nullptr};
  return {reduce_alone, nullptr, request.path == Path::Exchange ? exchange_reduce : library_reduce};
}

Way<GatherRequest> way_of(const GatherRequest& request) {
  const auto alone = [](const Pass&, const GatherRequest&) {};
  if (in_window(request.path)) return {alone, pull_gather, nullptr};
  return {alone, nullptr, exchange_gather};
}

/// A request, checked, as it waits for its calls.
template <typename Request>
struct Checked {
  FoldTeam team;
  Request request;
  Descriptor descriptor;
  Way<Request> way;

  void run(FoldOperations& operations, Range covered) const {
    Geometry geometry = request.geometry;
    geometry.begin = covered.begin;
    geometry.end = covered.end;
    const Layout layout(geometry, team.size());
    const Pass pass{operations, layout, team.self()};
    if (team.size() == 1) return way.alone(pass, request);
    Descriptor mine = descriptor;
    mine.begin = covered.begin;
    mine.end = covered.end;
    if (way.in_window != nullptr) {
      operations.meet_in_window(mine, [&](Peers& peers) { way.in_window(pass, peers, request); });
    } else {
      operations.meet_on_communicator(mine, [&] { way.apart(pass, request); });
    }
  }
};

Range covered_by(const Geometry& widest, std::span<const double> values) {
  if (values.empty()) return {widest.begin, widest.end};
  const auto first = static_cast<double>(widest.begin);
  const auto last = static_cast<double>(widest.end);
  const auto whole = [](double value) { return std::trunc(value) == value; };
  if (values.size() == 2 && whole(values[0]) && whole(values[1]) && first <= values[0] &&
      values[0] <= values[1] && values[1] <= last) {
    return {static_cast<std::size_t>(values[0]), static_cast<std::size_t>(values[1])};
  }
  throw Error(Code::InvalidLength, "a call covers a run of whole elements from " +
                                       std::to_string(widest.begin) + " up to " + std::to_string(widest.end) +
                                       ", those that the operation was prepared for");
}

template <typename Request>
class PreparedFold final : public PreparedOperation {
 public:
  PreparedFold(Backend& backend, std::shared_ptr<const Checked<Request>> checked)
      : backend_(backend), checked_(std::move(checked)) {}

  void enqueue(Stream& stream, std::span<const double> values) override {
    const Range covered = covered_by(checked_->request.geometry, values);
    backend_.fold(
        stream, std::shared_ptr<const FoldTeam>(checked_, &checked_->team),
        [checked = checked_, covered](FoldOperations& operations) { checked->run(operations, covered); });
  }

 private:
  Backend& backend_;
  std::shared_ptr<const Checked<Request>> checked_;
};

template <typename Request>
std::shared_ptr<PreparedOperation> prepare_checked(Backend& backend, const Team& team, const Request& request,
                                                   const Span& data, std::string_view name,
                                                   const Span* accumulator = nullptr) {
  Checked<Request> checked{find_members(team, backend.most_members()), request, describe(request),
                           way_of(request)};
  checked.descriptor.team = hash_of(team.communicator->world_ranks());
  if (in_window(request.path) && checked.team.size() > 1) {
    const PeerWindow* const window = team.window.get();
    checked.descriptor.data_offset = window_offset(window, data, name);
    if (accumulator != nullptr) {
      checked.descriptor.accumulator_offset = window_offset(window, *accumulator, "accumulators");
    }
  }
  return std::make_shared<PreparedFold<Request>>(
      backend, std::make_shared<const Checked<Request>>(std::move(checked)));
}

}  // namespace

std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team,
                                           const AccumulateRequest& request) {
  check_accumulate(team, request);
  const bool to_peers = request.path == Path::Owner && request.geometry.replicas > 1;
  return prepare_checked(backend, team, request, request.gradient, "gradients",
                         to_peers ? &request.accumulator : nullptr);
}

std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team, const ReduceRequest& request) {
  check_reduce(team, request);
  return prepare_checked(backend, team, request, request.data, "data");
}

std::shared_ptr<PreparedOperation> prepare(Backend& backend, const Team& team, const GatherRequest& request) {
  check_gather(team, request);
  return prepare_checked(backend, team, request, request.data, "data");
}

}  // namespace foldstep::fold
