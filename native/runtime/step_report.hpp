#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "runtime/error.hpp"

namespace foldstep {

/// How one step of something collective went on one member, as the others are told. Plain bytes.
struct StepReport {
  static constexpr std::int32_t success = -1;
  std::int32_t code = success;
  std::array<char, 508> text{};  ///< zero-terminated

  void fail(const Error& error) {
    const std::string what = error.what();
    code = static_cast<std::int32_t>(error.code());
    std::copy_n(what.begin(), std::min(what.size(), text.size() - 1), text.begin());
  }
};

/// Does `step(report)` and reports what it throws. `Report` is a StepReport with what the others must know.
template <typename Report, typename Step>
Report report_of(const Step& step) {
  Report report;
  try {
    step(report);
  } catch (const Error& error) {
    report.fail(error);
  }
  return report;
}

}  // namespace foldstep
