// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/timeline/page_timeline.h"

#include <utility>

#include "analyzer/html/page/escape.h"
#include "analyzer/html/timeline/timeline_data.h"

namespace traceinject {
namespace {

// A span takes 12 bytes as a rule: mostly the first try fits.
constexpr std::size_t kMostSpans = 14'000;

}  // namespace

PageTimeline MakePageTimeline(const Run& run, const JudgedReport& found, std::string name) {
  PageTimeline timeline;
  timeline.run = std::move(name);
  timeline.excerpt = MakeExcerpt(run, found, kMostSpans, [&](const Excerpt& excerpt) {
    timeline.data = TimelineData(excerpt);
    return Escaped(timeline.data).size() <= kMaxTimelineData;
  });
  return timeline;
}

}  // namespace traceinject
