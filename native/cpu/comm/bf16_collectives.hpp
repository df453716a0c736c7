#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cpu/comm/transport.hpp"
#include "runtime/dtype.hpp"

namespace foldstep::cpu {

/// Reductions of BF16 that MPI does not do: values are combined in FP32 in rank order and rounded once. A
/// maximum or minimum with a NaN among its values is NaN. At most 1 MiB of temporary memory whatever the
/// count.
///
/// `Wait` ends an operation of the transport; should that fail, it keeps the given buffer alive.
using Wait = std::function<void(Transport::Pending, std::shared_ptr<const void>)>;

/// In place.
void all_reduce_bf16(Transport& transport, std::uint16_t* data, std::size_t count, ReduceOp op,
                     const Wait& wait);
/// `source` holds size * count values, `target` count.
void reduce_scatter_bf16(Transport& transport, const std::uint16_t* source, std::uint16_t* target,
                         std::size_t count, ReduceOp op, const Wait& wait);

}  // namespace foldstep::cpu
