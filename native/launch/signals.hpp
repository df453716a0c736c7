#pragma once

#include <initializer_list>

#include "launch/descriptor.hpp"

namespace foldstep::launch {

/// Blocks these signals; they are read from the descriptor instead, which does not block.
Descriptor receive_signals(std::initializer_list<int> numbers);

/// Whether it asks a job to end.
bool is_end_signal(int number);

}  // namespace foldstep::launch
