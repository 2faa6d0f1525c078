// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/text_trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/trend/trend_text.h"

namespace traceinject {
namespace {

constexpr int kTrendGreen = 32, kTrendRed = 31, kTrendYellow = 33;
constexpr std::size_t kBarWidth = 16;
constexpr int kSettingsOfARun = 3;

std::string ShareText(bool known, double share) { return known ? Percent(share) : "-"; }

// Longer for slower, on the scale of the group.
std::string BarOf(const proto::TrendRun& run, std::int64_t longest_ns) {
  if (run.step_ns() <= 0 || longest_ns <= 0) return {};
  const std::size_t length = (kBarWidth * static_cast<std::size_t>(run.step_ns()) +
                              static_cast<std::size_t>(longest_ns) / 2) /
                             static_cast<std::size_t>(longest_ns);
  return std::string(std::max<std::size_t>(length, 1), '#');
}

std::string StepText(const proto::TrendRun& run) {
  return run.has_step_ns() ? FormatTime(run.step_ns()) : "-";
}

// Half of the interval, as a share.
std::string StepInterval(const proto::TrendRun& run) {
  if (!run.has_step_low_ns() || run.step_ns() <= 0) return "-";
  return "+-" + Percent(static_cast<double>(run.step_high_ns() - run.step_low_ns()) / 2 /
                        static_cast<double>(run.step_ns()));
}

std::string ChangeAt(const proto::TrendGroup& group, int run) {
  for (const proto::LevelChange& change : group.changes()) {
    if (change.run() == run) return SignedPercent(change.change_share());
  }
  return {};
}

// "2026-11-20 02:10".
std::string MinuteOf(std::int64_t unix_ns) {
  constexpr std::size_t kMinuteWidth = 16;
  return FormatDate(unix_ns).substr(0, kMinuteWidth);
}

using TableRows = std::vector<std::vector<std::string>>;

// Narrow enough for a terminal, so in two parts.
void WriteSteps(const proto::TrendGroup& group, int first, ReportPage& page) {
  std::int64_t longest_ns = 0;
  for (const proto::TrendRun& run : group.runs()) longest_ns = std::max(longest_ns, run.step_ns());
  TableRows table = {{"started (UTC)", "step", "95 %", "", "change", "verdict", "run"}};
  for (int i = first; i < group.runs_size(); ++i) {
    const proto::TrendRun& run = group.runs(i);
    table.push_back({MinuteOf(run.start_unix_ns()), StepText(run), StepInterval(run),
                     BarOf(run, longest_ns), ChangeAt(group, i), run.verdict(), run.name()});
  }
  page.Table(table, 1, 2);
}

void WriteShares(const proto::TrendGroup& group, int first, ReportPage& page) {
  TableRows table = {{"run", "busy", "exp. comm", "data wait", "MFU", "recording", "saves"}};
  for (int i = first; i < group.runs_size(); ++i) {
    const proto::TrendRun& run = group.runs(i);
    table.push_back(
        {run.name(), ShareText(run.has_gpu_busy(), run.gpu_busy()),
         ShareText(run.has_exposed_communication_share(), run.exposed_communication_share()),
         ShareText(run.has_data_wait_share(), run.data_wait_share()),
         ShareText(run.has_mfu(), run.mfu()),
         ShareText(run.has_recording_share(), run.recording_share()),
         run.has_saved_ns() ? FormatTime(run.saved_ns()) : "-"});
  }
  page.Table(table, 1, 6);
}

void WriteRuns(const proto::TrendGroup& group, std::size_t rows, ReportPage& page) {
  const int first = rows == 0 ? 0 : std::max(0, group.runs_size() - static_cast<int>(rows));
  WriteSteps(group, first, page);
  WriteShares(group, first, page);
  if (first > 0)
    page.Sentence(
        fmt::format("{} are not shown; --rows 0 shows all", Plural(first, "earlier run")));
}

}  // namespace

void WriteGroupChanges(const proto::TrendGroup& group, ReportPage& page) {
  page.Sentence(GroupSentence(group));
  for (const proto::LevelChange& change : group.changes()) {
    const bool slower = change.change_share() > 0;
    page.Sentence(page.Colored(slower ? "slower: " : "faster: ", slower ? kTrendRed : kTrendGreen) +
                  "step " + change.text());
  }
  if (group.changes().empty())
    page.Sentence(group.has_scatter_share()
                      ? "no change of the step time"
                      : "too few runs to tell a change: a level takes two runs");
  if (!group.outlook().empty())
    page.Sentence(page.Colored("not certain: ", kTrendYellow) + group.outlook());
  for (const proto::SettingsChange& changed : group.settings()) {
    if (!ChangeAt(group, changed.run()).empty()) continue;  // it is told there
    const proto::TrendRun& run = group.runs(changed.run());
    page.Sentence(fmt::format("- else, since {} of {}: {}", run.name(), DayOf(run.start_unix_ns()),
                              SettingsText(changed.settings(), kSettingsOfARun)));
  }
  for (const proto::TrendRun& run : group.runs()) {
    if (!run.reason().empty())
      page.Sentence(fmt::format("- {}: no step time: {}", run.name(), run.reason()));
    for (const std::string& caution : run.cautions())
      page.Sentence(fmt::format("- caution, {}: {}", run.name(), caution));
  }
}

void WriteLeftOut(const proto::Trend& trend, ReportPage& page) {
  if (trend.left_out().empty()) return;
  page.Heading("Left out");
  for (const std::string& reason : trend.left_out()) page.Sentence(reason);
}

void WriteTrend(const proto::Trend& trend, std::size_t rows, ReportPage& page) {
  for (const proto::TrendGroup& group : trend.groups()) {
    page.Heading(GroupTitle(group));
    WriteGroupChanges(group, page);
    WriteRuns(group, rows, page);
  }
  WriteLeftOut(trend, page);
}

}  // namespace traceinject
