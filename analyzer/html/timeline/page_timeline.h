// SPDX-License-Identifier: Apache-2.0
// The part of a run that a page shows as a timeline.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/verdict/judged_report.h"
#include "analyzer/view/excerpt/excerpt.h"

namespace traceinject {

struct PageTimeline {
  Excerpt excerpt;
  std::string data;         // for the script
  std::string run;          // what to name in commands that show more
  std::string served = {};  // where traceview --serve shows the run (http://...); empty: nowhere

  bool empty() const { return excerpt.empty(); }
};

// What of it stands in the page: the data, and the picture for where no script runs. The words
// around them are a few kilobytes.
inline constexpr std::size_t kMaxTimelineData = 220'000, kMaxTimelinePicture = 60'000;

// As fine as kMaxTimelineData allows. `name`: PageTimeline::run. Empty where there is nothing to
// show. O(events of the rank + events inside x log).
PageTimeline MakePageTimeline(const Run& run, const JudgedReport& found, std::string name);

}  // namespace traceinject
