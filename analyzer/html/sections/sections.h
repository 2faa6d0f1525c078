// SPDX-License-Identifier: Apache-2.0
// The sections of the page, each written below what it holds already. write_html.cc puts them in
// order.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/html/page/html_page.h"
#include "analyzer/html/page/marks.h"
#include "analyzer/html/page/markup.h"
#include "analyzer/html/timeline/page_timeline.h"
#include "analyzer/report/text/judged_step.h"
#include "analyzer/report/text/text_sections.h"
#include "schemas/ranks.pb.h"
#include "schemas/report.pb.h"

namespace traceinject {

// What every section needs.
struct HtmlReport {
  const proto::Report& report;
  const proto::Ranks& ranks;  // without rows: nothing was looked for
  const PageTimeline& timeline;
  Markup& out;

  bool has_several() const { return report.devices_size() > 1; }
};

// Letters that names on the page may have.
inline constexpr std::size_t kHtmlTextWidth = 120;

// What the sections of the text report write to.
class Reused {
 public:
  explicit Reused(const HtmlReport& to, std::string heading = "h3")
      : options_{.width = kHtmlTextWidth},
        page_(to.out, std::move(heading)),
        text_{to.report, options_, page_} {}
  Reused(const Reused&) = delete;
  Reused& operator=(const Reused&) = delete;

  TextReport& text() { return text_; }
  HtmlPage& page() { return page_; }

 private:
  TextOptions options_;
  HtmlPage page_;
  TextReport text_;
};

// Always there, at the top.
void WriteVerdictSection(const HtmlReport& to);

// The bar of the mean step that the verdict is about; nothing where none is known. time_section.cc
void WriteMeanStep(const HtmlReport& to);

// What each cause takes from the peak of the GPU that the verdict is about; nothing where it is not
// known. waterfall_bars.cc
void WriteWaterfallBars(const HtmlReport& to);

// How late each rank was over the run, all ranks, and their links; where there are any.
void WriteRankRows(const HtmlReport& to);

struct HtmlSection {
  std::string_view id, title;
  bool (*is_known)(const HtmlReport& to);  // there is something to show
  void (*write)(const HtmlReport& to);
};

// The ID of the place on the timeline that a line of the evidence speaks of. timeline_section.cc
std::string EvidenceAnchor(std::size_t line);

extern const HtmlSection kTimelineSection, kStallsSection, kMachineSection, kStepsSection,
    kTimeSection, kIdleSection, kCodeSection, kKernelsSection, kCommunicationSection, kRanksSection,
    kGpusSection, kRecordingSection;

}  // namespace traceinject
