#pragma once

namespace foldstep::cpu {

/// What a process that failed ends with: the host keeps 8 bits of a code, and no failure may end with 0.
constexpr int code_of_failure(int exit_code) {
  return (exit_code & 0xff) == 0 ? 1 : exit_code;
}

}  // namespace foldstep::cpu
