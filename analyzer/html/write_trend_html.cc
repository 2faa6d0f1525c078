// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_trend_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/html/charts/chart.h"
#include "analyzer/html/page/document.h"
#include "analyzer/html/page/html_page.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/trend/text_trend.h"
#include "analyzer/trend/trend_text.h"
#include "analyzer/verdict/labels.h"

namespace traceinject {
namespace {

constexpr int kMostGroups = 30, kMostRunRows = 500;
constexpr std::size_t kRunNameWidth = 48;

std::string RunTip(const proto::TrendRun& run) {
  std::string tip = fmt::format("{}, {}: {}", run.name(), FormatDate(run.start_unix_ns()),
                                FormatTime(run.step_ns()));
  if (run.has_step_low_ns())
    tip += fmt::format(" (95 % interval {} to {})", FormatTime(run.step_low_ns()),
                       FormatTime(run.step_high_ns()));
  return tip + ", " + run.verdict_title();
}

// The median steps, one run beside the next, with intervals.
void DrawRuns(Chart& chart, const proto::TrendGroup& group) {
  std::vector<Point> medians;
  std::vector<RangePoint> intervals;
  for (int i = 0; i < group.runs_size(); ++i) {
    const proto::TrendRun& run = group.runs(i);
    if (!run.has_step_ns()) continue;
    const double x = i + 1, y = static_cast<double>(run.step_ns());
    medians.push_back({x, y});
    intervals.push_back({x, run.has_step_low_ns() ? static_cast<double>(run.step_low_ns()) : y,
                         run.has_step_low_ns() ? static_cast<double>(run.step_high_ns()) : y});
  }
  chart.Area(intervals, "range");
  chart.Line(medians, "line-step");
  for (const Point& point : medians)
    chart.Column(point.x - 0.5, point.x + 0.5, RunTip(group.runs(static_cast<int>(point.x) - 1)));
}

void DrawChanges(Chart& chart, const proto::TrendGroup& group) {
  for (const proto::LevelChange& change : group.changes()) {
    const Point at{change.run() + 1.0, static_cast<double>(change.after_ns())};
    chart.Dot(at, "unusual", change.text(), 6);
    chart.Label(at.x, at.y, SignedPercent(change.change_share()));
  }
}

void WriteTrendChart(const proto::TrendGroup& group, Markup& out) {
  std::int64_t longest_ns = 0;
  for (const proto::TrendRun& run : group.runs())
    longest_ns = std::max({longest_ns, run.step_ns(), run.step_high_ns()});
  if (longest_ns <= 0 || group.runs_size() < 2) return;
  Axis x{{0.5, group.runs_size() + 0.5, false}, {}, "run"};
  Axis y{FromZero(static_cast<double>(longest_ns)), {}, "step time"};
  x.ticks = TicksOf(x.scale, 6, PlainTick);
  y.ticks = TicksOf(y.scale, 5, TimeTick);
  ChartText text{"Median step of each run",
                 GroupSentence(group),
                 {{"key-step", "median step"}, {"range", "95 % interval by its steps"}}};
  if (group.changes_size() > 0) text.legend.push_back({"unusual", "first run at a new level"});
  Chart chart(out, text, std::move(x), std::move(y));
  DrawRuns(chart, group);
  DrawChanges(chart, group);
}

// A column of the table of runs.
struct RunColumn {
  const char *title, *help;
  std::string (*text)(const proto::TrendRun& run);
  std::string (*key)(const proto::TrendRun& run);  // that the script sorts by; null: it is text
};

std::string ShareCell(bool known, double share) { return known ? Percent(share) : ""; }
std::string ShareKey(bool known, double share) { return known ? fmt::format("{}", share) : ""; }

constexpr RunColumn kRunColumns[] = {
    {"started (UTC)", "when recording began",
     [](const proto::TrendRun& run) { return FormatDate(run.start_unix_ns()).substr(0, 16); },
     [](const proto::TrendRun& run) { return fmt::format("{}", run.start_unix_ns()); }},
    {"step", "median of the steps that the verdict judges",
     [](const proto::TrendRun& run) {
       return run.has_step_ns() ? FormatTime(run.step_ns()) : std::string();
     },
     [](const proto::TrendRun& run) {
       return run.has_step_ns() ? fmt::format("{}", run.step_ns()) : std::string();
     }},
    {"verdict", "what limits the run", [](const proto::TrendRun& run) { return run.verdict(); },
     nullptr},
    {"saves", "of a mean step without that",
     [](const proto::TrendRun& run) {
       return run.has_saved_ns() ? FormatTime(run.saved_ns()) : std::string();
     },
     [](const proto::TrendRun& run) {
       return run.has_saved_ns() ? fmt::format("{}", run.saved_ns()) : std::string();
     }},
    {"busy", "share of time, anything running on the GPU",
     [](const proto::TrendRun& run) { return ShareCell(run.has_gpu_busy(), run.gpu_busy()); },
     [](const proto::TrendRun& run) { return ShareKey(run.has_gpu_busy(), run.gpu_busy()); }},
    {"exposed communication", "share of time, communication running without compute",
     [](const proto::TrendRun& run) {
       return ShareCell(run.has_exposed_communication_share(), run.exposed_communication_share());
     },
     [](const proto::TrendRun& run) {
       return ShareKey(run.has_exposed_communication_share(), run.exposed_communication_share());
     }},
    {"data wait", "share of time, GPU idle while the program waited for its data loader",
     [](const proto::TrendRun& run) {
       return ShareCell(run.has_data_wait_share(), run.data_wait_share());
     },
     [](const proto::TrendRun& run) {
       return ShareKey(run.has_data_wait_share(), run.data_wait_share());
     }},
    {"MFU", "model FLOPs utilization",
     [](const proto::TrendRun& run) { return ShareCell(run.has_mfu(), run.mfu()); },
     [](const proto::TrendRun& run) { return ShareKey(run.has_mfu(), run.mfu()); }},
    {"recording", "share of a step that recording added",
     [](const proto::TrendRun& run) {
       return ShareCell(run.has_recording_share(), run.recording_share());
     },
     [](const proto::TrendRun& run) {
       return ShareKey(run.has_recording_share(), run.recording_share());
     }},
    {"commit", "of the program's source, as CI told",
     [](const proto::TrendRun& run) { return run.commit().substr(0, 12); }, nullptr},
    {"host", "of the judged GPU", [](const proto::TrendRun& run) { return run.host(); }, nullptr},
};

bool IsTold(const RunColumn& column, const proto::TrendGroup& group) {
  return std::any_of(group.runs().begin(), group.runs().end(),
                     [&](const proto::TrendRun& run) { return !column.text(run).empty(); });
}

void WriteRunName(const proto::TrendRun& run, Markup& out) {
  const auto cell = out.Open("td", {{"class", "name"}});
  const std::string name = ShortenMiddle(run.name(), kRunNameWidth);
  if (run.page().empty()) return out.Text(name);
  out.Leaf("a", name, {{"href", run.page()}});
}

void WriteRunHead(const std::vector<const RunColumn*>& columns, Markup& out) {
  const auto head = out.Open("thead");
  const auto row = out.Open("tr");
  const auto add = [&](const char* title, const char* help, bool is_text, bool is_order) {
    out.Leaf("th", title,
             {{"scope", "col"},
              {"class", is_text ? "text" : "num"},
              {"data-tip", help},
              {"aria-sort", is_order ? "descending" : "none"}});
  };
  add("run", "leads to its report, where that was written", true, false);
  for (const RunColumn* column : columns)
    add(column->title, column->help, column->key == nullptr, column == &kRunColumns[0]);
}

void WriteRunTable(const proto::TrendGroup& group, Markup& out) {
  std::vector<const RunColumn*> columns;
  for (const RunColumn& column : kRunColumns) {
    if (IsTold(column, group)) columns.push_back(&column);
  }
  const std::string id = out.NewId();
  const auto scroll = out.Open(
      "div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-labelledby", id}});
  const auto table = out.Open("table", {{"class", "sortable"}});
  out.Leaf("caption", "Runs, the newest first", {{"id", id}});
  WriteRunHead(columns, out);
  const auto body = out.Open("tbody");
  const int last = std::max(0, group.runs_size() - kMostRunRows);
  for (int i = group.runs_size() - 1; i >= last; --i) {
    const auto row = out.Open("tr");
    WriteRunName(group.runs(i), out);
    for (const RunColumn* column : columns) {
      const std::string text = column->text(group.runs(i));
      if (column->key == nullptr)
        out.Leaf("td", text, {{"class", "text"}});
      else
        out.Leaf("td", text, {{"class", "num"}, {"data-v", column->key(group.runs(i))}});
    }
  }
}

void WriteTrendGroup(const proto::TrendGroup& group, Markup& out) {
  const auto section = out.Open("section");
  out.Leaf("h2", GroupTitle(group));
  WriteTrendChart(group, out);
  {
    HtmlPage page(out, "h3");
    WriteGroupChanges(group, page);
  }
  WriteRunTable(group, out);
  if (group.runs_size() > kMostRunRows)
    out.Leaf("p",
             fmt::format("{} are not shown; analyze trend --rows 0 shows all",
                         Plural(group.runs_size() - kMostRunRows, "earlier run")),
             {{"class", "note"}});
}

std::string TrendHeadline(const proto::Trend& trend) {
  if (trend.regressed()) return "slower than before";
  return "no regression";
}

void WriteTrendMain(const proto::Trend& trend, Markup& out) {
  {
    const auto section =
        out.Open("section", {{"id", "verdict"}, {"aria-labelledby", "verdict-label"}});
    const auto card = out.Open("div", {{"class", trend.regressed() ? "card" : "card healthy"}});
    out.Leaf("p", "Trend: the step time of runs over time", {{"class", "kicker"}});
    out.Leaf("h1", TrendHeadline(trend), {{"id", "verdict-label"}});
    for (const proto::TrendGroup& group : trend.groups()) {
      if (group.regressed())
        out.Leaf("p", group.program() + ": step " + group.changes().rbegin()->text(),
                 {{"class", "lead"}});
    }
  }
  for (int i = 0; i < std::min(trend.groups_size(), kMostGroups); ++i)
    WriteTrendGroup(trend.groups(i), out);
  if (trend.groups_size() > kMostGroups)
    out.Leaf("p",
             fmt::format("{} are not shown; analyze trend --format json has all",
                         Plural(trend.groups_size() - kMostGroups, "group")),
             {{"class", "note"}});
  HtmlPage page(out, "h2");
  WriteLeftOut(trend, page);
}

}  // namespace

std::string WriteTrendHtml(const proto::Trend& trend) {
  std::int64_t runs = 0;
  for (const proto::TrendGroup& group : trend.groups()) runs += group.runs_size();
  const std::string about = Plural(runs, "run");
  return WriteDocument({"Trend: " + about,
                        [&](Markup& out) {
                          out.Leaf("p", about, {{"class", "files"}});
                        },
                        [&](Markup& out) { WriteTrendMain(trend, out); },
                        fmt::format("analyze {}. {}", trend.tool_version(), trend.method())});
}

}  // namespace traceinject
