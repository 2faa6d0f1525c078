// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/heat_map.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/ranks_tables.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxMapRows = 128, kMaxRanks = 64, kMaxLinks = 24;

void WriteLeftOut(const HtmlReport& to, std::size_t all) {
  if (all > kMaxMapRows)
    to.out.Leaf("p",
                fmt::format("{} more GPUs are not shown; analyze steps shows all",
                            FormatCount(static_cast<std::int64_t>(all - kMaxMapRows))),
                {{"class", "note"}});
}

// Steps are numbered alike on all ranks; one that began later has unknown ones first.
std::int64_t FirstStep(const proto::Report& report) {
  std::int64_t first = INT64_MAX;
  for (const proto::DeviceSteps& steps : report.steps()) first = std::min(first, steps.first());
  return first;
}

// `share_of`: of one step of these.
template <typename ShareOf>
void WriteStepMap(const HtmlReport& to, const ChartText& text, ShareOf share_of) {
  const std::int64_t first = FirstStep(to.report);
  std::vector<HeatRow> rows;
  for (const proto::DeviceSteps& steps : to.report.steps()) {
    if (rows.size() == kMaxMapRows) break;
    HeatRow row{steps.label(), {}, {}};
    row.shares.assign(static_cast<std::size_t>(steps.first() - first), NAN);
    std::size_t most = 0;
    for (const proto::StepSplit& step : steps.steps()) {
      row.shares.push_back(share_of(steps, step));
      if (!(row.shares.back() <= row.shares[most])) most = row.shares.size() - 1;
    }
    row.tip = fmt::format("{}: median step {}", steps.label(), FormatTime(steps.median_ns()));
    if (most < row.shares.size() && row.shares[most] > 0)
      row.tip += fmt::format("; most in step {}: {}", first + static_cast<std::int64_t>(most),
                             Percent(row.shares[most]));
    rows.push_back(std::move(row));
  }
  WriteHeatMap(to.out, text, rows, "step", static_cast<double>(first));
  WriteLeftOut(to, static_cast<std::size_t>(to.report.steps_size()));
}

void WriteStepMaps(const HtmlReport& to) {
  WriteStepMap(to,
               {"Exposed communication, share of each step",
                "For every GPU and step, the share of time with only communication running; the "
                "rank that waits least is the one the others wait for"},
               [](const proto::DeviceSteps&, const proto::StepSplit& step) {
                 return step.length_ns() > 0
                            ? static_cast<double>(step.exposed_communication_ns()) /
                                  static_cast<double>(step.length_ns())
                            : NAN;
               });
  WriteStepMap(to,
               {"Step time over the median of each GPU",
                "For every GPU and step, how much longer it took than the GPU's median step"},
               [](const proto::DeviceSteps& steps, const proto::StepSplit& step) {
                 return steps.median_ns() > 0 ? static_cast<double>(step.length_ns()) /
                                                        static_cast<double>(steps.median_ns()) -
                                                    1
                                              : NAN;
               });
}

// Own time over what is usual for its peers, in parts of the run.
void WriteLatenessMap(const HtmlReport& to) {
  std::vector<HeatRow> rows;
  for (int i = 0; i < to.ranks.ranks_size() && rows.size() < kMaxMapRows; ++i) {
    const proto::RankRow& rank = to.ranks.ranks(i);
    if (rank.lateness().empty()) continue;
    HeatRow row{RankLabel(to.ranks, i), {rank.lateness().begin(), rank.lateness().end()}, {}};
    const auto most = std::max_element(row.shares.begin(), row.shares.end());
    row.tip = fmt::format("{}: up to {} over its peers", row.label, Percent(*most));
    rows.push_back(std::move(row));
  }
  WriteHeatMap(to.out,
               {"Lateness over the run: own time over that of its peers",
                "For every rank, how much longer than its peers it takes, excluding time blocked "
                "in communication, for each part of the run"},
               rows, "part of the run", 1);
}

void WriteRankTable(const HtmlReport& to) {
  Table table = RankTable(to.ranks);
  // What is drawn above.
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].name != "lateness") columns.push_back(column);
  }
  ChooseColumns(table, columns);
  const bool all = table.rows.size() <= kMaxRanks;
  const auto excess = FindColumn(table.columns, "excess_ns");
  if (!all && excess) SortTable(table, *excess, false);
  WriteHtmlTable(to.out, table,
                 {.caption = "Ranks (times per mean step)",
                  .rows = kMaxRanks,
                  .columns = 12,
                  .where_all = "analyze ranks --rows 0 shows all",
                  .order = all ? "rank" : "excess_ns",
                  .ascending = all});
  if (to.ranks.links().empty()) return;
  WriteHtmlTable(to.out, LinkTable(to.ranks),
                 {.caption = "Links between ranks (transfer time without waiting)",
                  .rows = kMaxLinks,
                  .where_all = "analyze ranks --format json has all"});
}

bool HasRanks(const HtmlReport& to) {
  return to.has_several() || !to.report.rank_findings().empty();
}

void WriteRanks(const HtmlReport& to) {
  {
    Reused reused(to);
    if (to.report.rank_findings().empty())
      reused.page().Sentence(NoRankFindingText(to.ranks));
    else
      WriteRankFindings(to.report.rank_findings(), reused.page());
  }
  WriteStepMaps(to);
  WriteRankRows(to);
}

}  // namespace

void WriteRankRows(const HtmlReport& to) {
  if (to.ranks.ranks().empty()) return;
  WriteLatenessMap(to);
  WriteRankTable(to);
}

const HtmlSection kRanksSection = {"ranks", "Between ranks", HasRanks, WriteRanks};

}  // namespace traceinject
