// SPDX-License-Identifier: Apache-2.0
// What may be amiss with a machine or with how it is set up: one table of checks, from which the
// report and `analyze doctor` take their words. A finding stands beside the verdict and is never
// the verdict.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace traceinject {

enum class HygieneSeverity : std::uint8_t {
  kNote,     // may cost time
  kWarning,  // costs time
  kFault,    // results are at risk
};
// note, warning, fault.
std::string_view HygieneSeverityName(HygieneSeverity severity);

struct HygieneCheck {
  std::string_view name;
  std::string_view title;  // what is looked at
  HygieneSeverity severity;
  std::string_view change, source;  // as in a lever
};

// The worst first.
std::span<const HygieneCheck> HygieneChecks();

// What a check found, with the figures that prove it.
struct HygieneProof {
  enum class Of : std::uint8_t { kHost, kProcess, kGpu } of = Of::kHost;
  int gpu = -1;            // of kGpu: its number in the process
  std::string_view check;  // name in the table
  std::string text;
};

}  // namespace traceinject
