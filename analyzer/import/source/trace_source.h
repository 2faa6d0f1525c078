// SPDX-License-Identifier: Apache-2.0
// Profilers whose traces are read, and how a run.db that was made from one tells of it: facts of
// the kind "import" (system_fact in run_db.sql).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace traceinject {

struct TraceSource {
  std::string_view word;  // in the file
  std::string_view what;  // Rank::imported_from
};

inline constexpr TraceSource kKinetoSource = {"kineto", "a PyTorch profiler trace"};
inline constexpr TraceSource kNsysSource = {"nsys", "an Nsight Systems export"};
inline constexpr TraceSource kRpdSource = {"rpd", "a rocmProfileData trace"};
inline constexpr TraceSource kOtherSource = {"other", "another profiler's trace"};

inline constexpr std::string_view kImportFact = "import";  // system_fact.kind
inline constexpr std::string_view kSourceKey = "source";   // its value is a TraceSource::word
inline constexpr std::string_view kNotePrefix =
    "note.";  // what was left out of the trace, in words

template <typename Member>
constexpr TraceSource FindTraceSource(Member member, std::string_view text) {
  constexpr std::array kAll = {kKinetoSource, kNsysSource, kRpdSource};
  const auto found = std::find_if(
      kAll.begin(), kAll.end(), [&](const TraceSource& source) { return source.*member == text; });
  return found == kAll.end() ? kOtherSource : *found;
}

}  // namespace traceinject
