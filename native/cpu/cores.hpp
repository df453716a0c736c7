#pragma once

namespace foldstep::cpu {

/// The cores that this rank's threads may use, and those that the ranks of this host share.
struct Cores {
  int own = 1;
  int host = 1;  ///< at least `own`

  /// Launchers may bind each rank to a core of its own; what they could choose from is what the launcher
  /// itself has.
  static Cores find();

  /// Whether each of `ranks` ranks has a core.
  bool enough_for(int ranks) const { return ranks <= host; }
  /// Threads per rank.
  int share_of(int ranks) const;
};

}  // namespace foldstep::cpu
