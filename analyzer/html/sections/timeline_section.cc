// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "analyzer/common/units.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/html/timeline/timeline_picture.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/verdict_sentences.h"

namespace traceinject {
namespace {

constexpr std::string_view kKeys =
    "Zoom: Ctrl and wheel, W and S, pinch. Move: drag, A and D. Events: click, arrow keys; Enter "
    "zooms in on one. Home: all.";

bool HasTimeline(const HtmlReport& to) { return !to.timeline.empty(); }

// What of it is shown, and where there is more.
void WriteWhatIsShown(const HtmlReport& to) {
  const Excerpt& excerpt = to.timeline.excerpt;
  const Interval time = excerpt.chosen.time;
  to.out.Leaf("p", fmt::format("Of {}: {}, {}. The same in traceview:", excerpt.rank,
                               excerpt.chosen.text, excerpt.chosen.reason));
  const auto block = to.out.Open("pre", {{"class", "scroll"}, {"tabindex", "0"}});
  to.out.Text(ViewCommand(to.timeline.run, time.start - excerpt.origin, time.end - excerpt.origin));
}

// What is not seen one by one.
void WriteWhatIsMerged(const HtmlReport& to) {
  const Excerpt& excerpt = to.timeline.excerpt;
  const auto count = [](std::size_t number) {
    return FormatCount(static_cast<std::int64_t>(number));
  };
  std::string text = count(excerpt.events) + " events. ";
  text += excerpt.merged == 0
              ? "Each is shown by itself."
              : fmt::format(
                    "{} of them, shorter than {}, are merged with their neighbors into {} "
                    "busy spans, as high as the share of time that they take; none is left "
                    "out.",
                    count(excerpt.merged), FormatTime(excerpt.cell_ns), count(excerpt.merged_into));
  if (excerpt.rows_left_out > 0)
    text += fmt::format(" {} more rows are not shown.", count(excerpt.rows_left_out));
  if (excerpt.lanes_left_out > 0)
    text +=
        fmt::format(" {} more lanes of these rows are not shown.", count(excerpt.lanes_left_out));
  to.out.Leaf("p", text, {{"class", "note"}});
}

// The first color of each meaning; shades only tell names apart.
void WriteColors(const HtmlReport& to) {
  const auto list = to.out.Open("ul", {{"class", "legend"}});
  std::set<std::string_view> written = {""};
  for (const ExcerptColor& color : to.timeline.excerpt.colors) {
    if (!written.insert(color.text).second) continue;
    const auto item = to.out.Open("li");
    {
      const auto patch = to.out.Open("svg", {{"class", "patch"}, {"aria-hidden", "true"}});
      to.out.Void("rect", {{"width", "100%"},
                           {"height", "100%"},
                           {"fill", fmt::format("#{:06x}", color.color >> 8U)},
                           {"fill-opacity", Number((color.color & 0xffU) / 255.0)}});
    }
    to.out.Text(color.text);
  }
}

TimeNs BusyInside(const ExcerptSpan& span, Interval time) {
  if (span.time.merged()) return span.time.busy;
  return std::min(span.time.end, time.end) - std::max(span.time.start, time.start);
}

// One row for those who hear the page: how many events, how long, and the longest one.
void WriteRowOfTable(const HtmlReport& to, const ExcerptRow& row) {
  const Excerpt& excerpt = to.timeline.excerpt;
  std::size_t events = 0;
  TimeNs busy = 0, longest_ns = -1;
  const ExcerptSpan* longest = nullptr;
  for (const auto& lane : row.lanes) {
    for (const ExcerptSpan& span : lane) {
      events += span.time.count;
      busy += BusyInside(span, excerpt.chosen.time);
      if (span.time.merged() || span.time.busy <= longest_ns) continue;
      longest_ns = span.time.busy;
      longest = &span;
    }
  }
  if (events == 0) return;
  const auto line = to.out.Open("tr");
  to.out.Leaf("th", row.label, {{"scope", "row"}});
  to.out.Leaf("td", FormatCount(static_cast<std::int64_t>(events)));
  to.out.Leaf("td", FormatTime(busy));
  to.out.Leaf("td", longest == nullptr ? std::string()
                                       : fmt::format("{}, {}", excerpt.looks[longest->look].name,
                                                     FormatTime(longest_ns)));
}

void WriteHiddenTable(const HtmlReport& to) {
  const auto hidden = to.out.Open("div", {{"class", "unseen"}});
  const auto table = to.out.Open("table", {{"class", "timeline-rows"}});
  to.out.Leaf("caption", "Rows of the timeline");
  {
    const auto head = to.out.Open("thead");
    const auto line = to.out.Open("tr");
    for (const char* title : {"row", "events", "time in them", "longest event"})
      to.out.Leaf("th", title, {{"scope", "col"}});
  }
  const auto body = to.out.Open("tbody");
  for (const ExcerptRow& row : to.timeline.excerpt.rows) WriteRowOfTable(to, row);
}

void WriteControls(Markup& out) {
  const auto controls = out.Open("div", {{"class", "timeline-controls"}, {"hidden", "hidden"}});
  for (const auto& [action, text, name] :
       {std::tuple{"in", "+", "Zoom in"}, {"out", "-", "Zoom out"}, {"fit", "All", "Show all"}})
    out.Leaf("button", text, {{"type", "button"}, {"data-do", action}, {"aria-label", name}});
  out.Leaf("span", kKeys, {{"class", "note"}, {"id", "timeline-keys"}});
}

void WriteFigure(const HtmlReport& to) {
  const Excerpt& excerpt = to.timeline.excerpt;
  const auto figure = to.out.Open("figure", {{"class", "timeline"}});
  for (std::size_t i = 0; i < excerpt.places.size(); ++i) {
    if (excerpt.places[i])
      to.out.Leaf("span", "", {{"id", EvidenceAnchor(i)}, {"class", "place-of"}});
  }
  WriteControls(to.out);
  to.out.Leaf("canvas", "",
              {{"hidden", "hidden"},
               {"tabindex", "0"},
               {"role", "application"},
               {"aria-label", fmt::format("Timeline of {}, {}", excerpt.rank, excerpt.chosen.text)},
               {"aria-describedby", "timeline-keys"}});
  WriteTimelinePicture(to.out, excerpt, kMaxTimelinePicture);
  to.out.Leaf("p", "", {{"class", "timeline-details"}, {"role", "status"}, {"hidden", "hidden"}});
  WriteColors(to);
  to.out.Leaf("div", to.timeline.data, {{"class", "timeline-data"}, {"hidden", "hidden"}});
}

void WriteTimeline(const HtmlReport& to) {
  WriteWhatIsShown(to);
  WriteFigure(to);
  WriteWhatIsMerged(to);
  WriteHiddenTable(to);
}

}  // namespace

std::string EvidenceAnchor(std::size_t line) { return fmt::format("evidence-{}", line + 1); }

const HtmlSection kTimelineSection = {"timeline", "Timeline", HasTimeline, WriteTimeline};

}  // namespace traceinject
