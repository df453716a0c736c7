#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace foldstep::cpu {

/// What ranks that can share memory have in common and others have not: host, boot, shared memory directory,
/// process namespace, and FOLDSTEP_NODE where it is set, for containers that look alike but share nothing.
std::string node_identity();

/// 128 bits of it, to be compared between ranks.
using NodeHash = std::array<std::uint64_t, 2>;
NodeHash hash_node(const std::string& identity);

}  // namespace foldstep::cpu
