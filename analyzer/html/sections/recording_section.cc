// SPDX-License-Identifier: Apache-2.0
// What the figures rest on: files, notes, cost and health of the recording; and what stood out
// beside the verdict.
#include <fmt/format.h>

#include <string>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

constexpr std::size_t kSourceRows = 64;
constexpr std::size_t kCommandWidth = 160;

using proto::Source;

constexpr ColumnOf<Source> kSourceColumns[] = {
    {{"rank", "rank", Unit::kOrdinal, Shown::kAlways, "global rank in the job"},
     [](const Source& s) { return CellIf(s.has_rank(), std::int64_t{s.rank()}); }},
    {{"path", "file", Unit::kText, Shown::kAlways, "recording file"},
     [](const Source& s) { return TextIfAny(s.path()); }},
    {{"host", "host", Unit::kText, Shown::kAlways, "host it ran on"},
     [](const Source& s) { return TextIfAny(s.host()); }},
    {{"pid", "pid", Unit::kOrdinal, Shown::kAlways, "process id"},
     [](const Source& s) { return Cell(s.pid()); }},
    {{"ended", "ended", Unit::kText, Shown::kAlways,
      "closed: complete; open: killed, or still running"},
     [](const Source& s) { return Cell(std::string(s.closed() ? "closed" : "open")); }},
    {{"command_line", "command", Unit::kText, Shown::kAlways, "command line"},
     [](const Source& s) { return TextIfAny(ShortenMiddle(s.command_line(), kCommandWidth)); }},
};

bool IsAlways(const HtmlReport&) { return true; }

void WriteRecording(const HtmlReport& to) {
  WriteHtmlTable(to.out, TableOf<Source>(kSourceColumns, to.report.sources()),
                 {.caption = "Recorded processes", .rows = kSourceRows});
  Reused reused(to);
  TextReport& text = reused.text();
  for (const std::string& note : to.report.notes()) text.page.Sentence("note: " + note);
  WriteHealth(text);
  WriteTrust(text);
  WriteRecordingCosts(text);
  WriteMfu(text);
}

bool HasStalls(const HtmlReport& to) { return !to.report.stalls().empty(); }

void WriteStallsSection(const HtmlReport& to) {
  Reused reused(to);
  WriteStalls(reused.text());
}

bool HasHygiene(const HtmlReport& to) { return !to.report.hygiene().empty(); }

void WriteMachine(const HtmlReport& to) {
  const auto list = to.out.Open("ul", {{"class", "findings"}});
  for (const proto::HygieneFinding& finding : to.report.hygiene()) {
    const auto item = to.out.Open("li");
    {
      const auto line = to.out.Open("p");
      to.out.Leaf("b", finding.severity(), {{"class", "severity " + MarkOf(finding.severity())}});
      to.out.Text(": " + finding.text());
    }
    to.out.Leaf("p", "try: " + finding.change(), {{"class", "more"}});
    to.out.Leaf("p", finding.source(), {{"class", "source"}});
  }
}

}  // namespace

const HtmlSection kRecordingSection = {"recording", "The recording", IsAlways, WriteRecording};
const HtmlSection kStallsSection = {"stalls", "Hangs", HasStalls, WriteStallsSection};
const HtmlSection kMachineSection = {"machine", "Machine findings", HasHygiene, WriteMachine};

}  // namespace traceinject
