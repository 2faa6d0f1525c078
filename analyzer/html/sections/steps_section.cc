// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/chart.h"
#include "analyzer/html/charts/downsample.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/step_rows.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxStepBuckets = 200;
constexpr int kMaxStepDots = 60;  // of steps that are not judged
constexpr std::size_t kStepRows = 20;
// Of the longest step over the median: from there on the scale has to be logarithmic for the others
// to be seen.
constexpr double kFarOut = 5;

std::string TipOf(const Bucket& bucket) {
  if (bucket.count == 1)
    return fmt::format("step {:.0f}: {}", bucket.from_x, Rounded(bucket.median));
  return fmt::format("steps {:.0f} to {:.0f}: {} to {}, median {}", bucket.from_x, bucket.to_x,
                     Rounded(bucket.low), Rounded(bucket.high), Rounded(bucket.median));
}

void DrawSteps(Chart& chart, const std::vector<Bucket>& buckets) {
  std::vector<RangePoint> range;
  std::vector<Point> median;
  bool merged = false;
  for (const Bucket& bucket : buckets) {
    const double x = (bucket.from_x + bucket.to_x) / 2;
    range.push_back({x, bucket.low, bucket.high});
    median.push_back({x, bucket.median});
    merged |= bucket.count > 1;
  }
  if (merged) chart.Area(range, "range");
  chart.Line(median, "line-step");
  for (const Bucket& bucket : buckets)
    chart.Column(bucket.from_x - 0.5, bucket.to_x + 0.5, TipOf(bucket));
}

// Returns how many were left out.
int DrawUnusual(Chart& chart, const proto::DeviceSteps& steps) {
  int drawn = 0, left = 0;
  for (int i = 0; i < steps.steps_size(); ++i) {
    const proto::StepSplit& step = steps.steps(i);
    if (step.judged()) continue;
    if (++drawn > kMaxStepDots) {
      ++left;
      continue;
    }
    const auto number = static_cast<double>(steps.first() + i);
    chart.Dot({number, static_cast<double>(step.length_ns())}, "unusual",
              fmt::format("step {:.0f}, {}: {}", number, step.kind(), FormatTime(step.length_ns())),
              3.5);
  }
  return left;
}

void WriteStepChart(const HtmlReport& to, const proto::DeviceSteps& steps) {
  std::vector<Point> points;
  double shortest = 0, longest = 0;
  for (int i = 0; i < steps.steps_size(); ++i) {
    const auto length = static_cast<double>(steps.steps(i).length_ns());
    points.push_back({static_cast<double>(steps.first() + i), length});
    shortest = i == 0 ? length : std::min(shortest, length);
    longest = std::max(longest, length);
  }
  if (points.size() < 2 || longest <= 0) return;
  const auto median = static_cast<double>(steps.median_ns());
  const bool logarithmic = median > 0 && longest > kFarOut * median;
  Axis x{{points.front().x - 0.5, points.back().x + 0.5, false}, {}, "step"};
  Axis y{logarithmic ? PowersOfTen(shortest, longest) : FromZero(longest), {}, "step time"};
  x.ticks = TicksOf(x.scale, 6, PlainTick);
  y.ticks = TicksOf(y.scale, 5, TimeTick);
  const std::vector<Bucket> buckets = Downsample(points, kMaxStepBuckets);
  const bool merged = buckets.size() < points.size();
  const proto::Verdict& verdict = to.report.verdict();
  ChartText text{"Step time of " + steps.label(),
                 fmt::format("{} from {} to {}, median {}", Plural(steps.steps_size(), "step"),
                             Rounded(shortest), Rounded(longest), FormatTime(steps.median_ns())),
                 {{"key-step", merged ? "median of neighboring steps" : "step"}}};
  if (merged) text.legend.push_back({"range", "shortest to longest of them"});
  const bool has_unusual = std::any_of(steps.steps().begin(), steps.steps().end(),
                                       [](const proto::StepSplit& step) { return !step.judged(); });
  if (has_unusual)
    text.legend.push_back({"unusual", "left out of the mean: warm-up, evaluation, ..."});
  int left = 0;
  {
    Chart chart(to.out, text, std::move(x), std::move(y));
    DrawSteps(chart, buckets);
    left = DrawUnusual(chart, steps);
    if (verdict.has_new_step_ns() && verdict.steps() > 0)
      chart.Rule(
          static_cast<double>(verdict.new_step_ns()), "goal",
          fmt::format("without {}: {}", TitleOn(verdict), FormatTime(verdict.new_step_ns())));
  }
  std::string note;
  if (logarithmic) note = "The scale is logarithmic: some steps are far longer than the others.";
  if (left > 0)
    note += fmt::format("{}{} steps that are left out are not plotted individually.",
                        note.empty() ? "" : " ", FormatCount(left));
  if (!note.empty()) to.out.Leaf("p", note, {{"class", "note"}});
}

void WriteLongestSteps(const HtmlReport& to, const proto::DeviceSteps& steps) {
  std::vector<StepRow> rows;
  for (int i = 0; i < steps.steps_size(); ++i)
    rows.push_back({steps.first() + i, steps, steps.steps(i)});
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t shown = std::min(kStepRows, rows.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const std::int64_t left = rows[a].step.length_ns();
                      const std::int64_t right = rows[b].step.length_ns();
                      return left != right ? left > right : a < b;
                    });
  std::vector<StepRow> longest;
  for (std::size_t i = 0; i < shown; ++i) longest.push_back(rows[order[i]]);
  WriteHtmlTable(to.out, StepTableOf(longest),
                 {.caption = "The longest steps of " + steps.label(), .order = "length_ns"});
  if (shown < rows.size())
    to.out.Leaf("p",
                fmt::format("{} shorter ones are not shown; analyze steps shows all",
                            FormatCount(static_cast<std::int64_t>(rows.size() - shown))),
                {{"class", "note"}});
}

bool HasSteps(const HtmlReport& to) { return JudgedSteps(to.report) != nullptr; }

void WriteSteps(const HtmlReport& to) {
  const proto::DeviceSteps& steps = *JudgedSteps(to.report);
  WriteStepChart(to, steps);
  {
    Reused reused(to);
    WriteSteps(reused.text(), steps);
    WriteRunTime(reused.text(), steps);
    WriteSamples(reused.text());
  }
  if (steps.steps_size() > 1) {
    to.out.Leaf("h3", "Longest steps");
    WriteLongestSteps(to, steps);
  }
}

}  // namespace

const HtmlSection kStepsSection = {"steps", "Steps", HasSteps, WriteSteps};

}  // namespace traceinject
