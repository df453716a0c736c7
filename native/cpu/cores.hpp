#pragma once

namespace foldstep::cpu {

/// The cores that this rank's threads may use, and those that the ranks of this host share. A quota may make
/// them part of a core.
struct Cores {
  double own = 1;
  double host = 1;  ///< at least `own`

  /// Launchers may bind each rank to a core of its own, or give it a quota; what they could choose from is
  /// what the launcher itself has.
  static Cores find();

  /// Whether each of `ranks` ranks has a core to itself.
  bool enough_for(int ranks) const { return own >= 1 && ranks <= host; }
  /// Threads per rank: one for each whole core, since a thread that the quota stops keeps the others waiting.
  int share_of(int ranks) const;
};

}  // namespace foldstep::cpu
