#pragma once

#include <span>
#include <string>
#include <vector>

#include "launch/descriptor.hpp"

namespace foldstep::launch {

/// A file without a name that holds a program and its arguments. Launchers give some arguments a meaning of
/// their own; what is in a file reaches a rank unchanged.
Descriptor write_arguments(std::span<char* const> arguments);
std::vector<std::string> read_arguments(int file);

/// Replaces this process with `program`; the signal mask and the dispositions are those of a new process.
/// Does not return: it says what failed and ends with 127.
[[noreturn]] void execute(const std::vector<std::string>& program);

}  // namespace foldstep::launch
