// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/text_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/ranks_tables.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

// An error of the replay from which on savings are rough.
constexpr double kRoughReplay = 0.05;
// Causes of lost time: of what is lost, and rows.
constexpr double kMinShownShare = 0.05;
constexpr std::size_t kMaxCauses = 12;

// What a step is held against, for how many times as long it takes.
std::string EvenJobText(const proto::Ranks& ranks) {
  return ranks.of_operations() ? "with every operation and transfer at the mean of its kind (S of "
                                 "what-if analysis)"
                               : "with every rank at its peers' median";
}

void WriteTitle(const proto::Ranks& ranks, ReportPage& page) {
  page.Sentence(fmt::format("{} on {}{}", Plural(ranks.ranks_size(), "rank"),
                            ranks.hosts() > 0 ? Plural(ranks.hosts(), "host") : "unknown hosts",
                            ranks.has_step_ns() ? fmt::format(", {} regular steps of {}",
                                                              FormatCount(ranks.steps()),
                                                              FormatTime(ranks.step_ns()))
                                                : ", no common steps"),
                0);
  page.Sentence(fmt::format(
      "{} operations matched across ranks{}", FormatCount(ranks.matched_operations()),
      ranks.incomplete_operations() > 0 ? fmt::format(", {} of them not found on every rank",
                                                      FormatCount(ranks.incomplete_operations()))
                                        : std::string()));
  if (!ranks.has_slowdown() || ranks.ranks_size() < 2) return;
  page.Sentence(
      fmt::format("A step takes {:.3f} times as long as {}. (Replaying the recording reproduces "
                  "step times within {}{}.)",
                  ranks.slowdown(), EvenJobText(ranks), Percent(ranks.replay_error(), 2),
                  ranks.replay_error() > kRoughReplay ? ": treat savings as rough" : ""));
}

void WriteFindings(const proto::Ranks& ranks, ReportPage& page) {
  page.Heading("Interaction between ranks");
  if (ranks.findings_size() == 0) {
    page.Sentence(NoRankFindingText(ranks));
    return;
  }
  WriteRankFindings(ranks.findings(), page);
}

void WriteGroups(const proto::Ranks& ranks, ReportPage& page) {
  if (ranks.groups_size() == 0) return;
  page.Heading("Groups by use (means per rank and step)");
  std::vector<std::vector<std::string>> rows{
      {"use", "ranks", "groups", "operations", "bytes", "time", "exposed", "reach"}};
  for (const proto::ParallelGroups& one : ranks.groups()) {
    rows.push_back({one.use(), FormatCount(one.size()), FormatCount(one.count()),
                    fmt::format("{:.1f}", one.operations()), FormatBytes(std::llround(one.bytes())),
                    FormatTime(one.communication_ns()), FormatTime(one.exposed_ns()),
                    !one.has_one_host() ? "hosts unknown"
                    : one.one_host()    ? "one host"
                                        : "several hosts"});
  }
  page.Table(rows, 1, 6);
}

void WritePipeline(const proto::Ranks& ranks, ReportPage& page) {
  if (!ranks.has_pipeline()) return;
  const proto::Pipeline& pipeline = ranks.pipeline();
  std::string text = fmt::format("pipeline of {} stages", pipeline.stages());
  if (pipeline.pipelines() > 1) text += fmt::format(", {} in parallel", pipeline.pipelines());
  if (pipeline.has_micro_batches())
    text += fmt::format(", {} micro-batches per step", pipeline.micro_batches());
  if (pipeline.has_bubble_share())
    text += fmt::format("; bubble: {} of the step", Percent(pipeline.bubble_share()));
  if (pipeline.has_ideal_share())
    text += fmt::format(", {} from the schedule alone", Percent(pipeline.ideal_share()));
  page.Sentence(text);
  std::string own;
  for (const std::int64_t ns : pipeline.stage_own_ns())
    own += (own.empty() ? "" : ", ") + FormatTime(ns);
  page.Sentence("own time of the stages: " + own);
}

void WriteLost(const proto::Ranks& ranks, ReportPage& page) {
  const proto::LostTime& lost = ranks.lost();
  if (lost.causes_size() == 0) return;
  page.Heading("Lost time");
  page.Sentence(
      fmt::format("A step takes {} more than with every rank, stage and group at its peers' median "
                  "({}). rem (remove): the share recovered if only this one ran at the median; "
                  "add: the share left if all but this one did.",
                  FormatTime(lost.lost_ns()), FormatTime(lost.ideal_ns())));
  if (lost.worst_ranks() > 1)
    page.Sentence(
        fmt::format("Simulated individually: {} of {}, those furthest above their peers. The worst "
                    "{} together: rem {}.",
                    FormatCount(lost.ranks_played()), Plural(ranks.ranks_size(), "rank"),
                    FormatCount(lost.worst_ranks()), Percent(lost.worst_rem())));
  TextRows rows{{"cause", "rem", "add"}};
  for (const proto::LostCause& cause : lost.causes()) {
    if (std::max(cause.rem(), cause.add()) < kMinShownShare || rows.size() > kMaxCauses) continue;
    rows.push_back({cause.name(), Percent(cause.rem()), Percent(cause.add())});
  }
  if (rows.size() > 1) page.Table(rows, 1, 2);
}

std::string RankNumbers(const proto::Ranks& ranks, const std::vector<int>& rows) {
  std::vector<int> numbers;
  for (const int row : rows) {
    if (!ranks.ranks(row).has_rank()) return Plural(static_cast<std::int64_t>(rows.size()), "rank");
    numbers.push_back(ranks.ranks(row).rank());
  }
  return (numbers.size() == 1 ? "rank " : "ranks ") + NumberRanges(numbers);
}

// Which clocks could not be aligned, and why.
void WriteUnaligned(const proto::Ranks& ranks, ReportPage& page) {
  std::map<std::string, std::vector<int>> rows;  // by reason
  for (int row = 0; row < ranks.ranks_size(); ++row) {
    const proto::RankRow& one = ranks.ranks(row);
    if (!one.has_clock_offset_ns()) rows[one.clock_reason()].push_back(row);
  }
  for (const auto& [reason, of_reason] : rows)
    page.Sentence(fmt::format(
        "{} of {} not aligned: {}", of_reason.size() == 1 ? "clock" : "clocks",
        of_reason.size() == 1 ? RankLabel(ranks, of_reason.front()) : RankNumbers(ranks, of_reason),
        reason));
}

// How far the clocks were apart.
void WriteClockOffsets(const proto::Ranks& ranks, ReportPage& page) {
  if (ranks.ranks_size() > 1) WriteUnaligned(ranks, page);
  int aligned = 0, furthest = -1;
  std::int64_t sigma = 0;
  double drift = 0;
  for (int row = 0; row < ranks.ranks_size(); ++row) {
    const proto::RankRow& one = ranks.ranks(row);
    if (!one.has_clock_offset_ns()) continue;
    ++aligned;
    sigma = std::max(sigma, one.clock_sigma_ns());
    drift = std::max(drift, std::abs(one.clock_drift_ppm()));
    if (furthest < 0 ||
        std::abs(one.clock_offset_ns()) > std::abs(ranks.ranks(furthest).clock_offset_ns()))
      furthest = row;
  }
  if (aligned < 2) return;
  const std::int64_t offset = std::abs(ranks.ranks(furthest).clock_offset_ns());
  if (offset == 0 && sigma == 0 && drift == 0) {
    page.Sentence(fmt::format("{} have one clock, that of their host", Plural(aligned, "rank")));
    return;
  }
  page.Sentence(
      fmt::format("clocks of {} aligned, uncertainty {} (one standard deviation): offsets up to {} "
                  "({}), drift up to {:.1f} ppm",
                  Plural(aligned, "rank"), FormatTime(sigma), FormatTime(offset),
                  RankLabel(ranks, furthest), drift));
}

void WriteRows(const proto::Ranks& ranks, const TextOptions& options, std::size_t most,
               TextPage& page) {
  page.Heading("Ranks (times per mean step)");
  Table table = RankTable(ranks);
  const std::size_t all = table.rows.size();
  if (all > most) {
    if (const auto column = FindColumn(table.columns, "excess_ns"))
      SortTable(table, *column, false);
    table.rows.resize(most);
  }
  WriteTable(table, {.width = options.width}, page);
  if (all > most)
    page.Sentence(fmt::format("({} more; --rows 0 shows all)",
                              FormatCount(static_cast<std::int64_t>(all - most))));
}

void WriteNotes(const proto::Ranks& ranks, ReportPage& page) {
  for (const std::string& note : ranks.notes()) page.Sentence("note: " + note);
}

}  // namespace

void WriteRanksSummary(const proto::Ranks& ranks, ReportPage& page) {
  WriteTitle(ranks, page);
  WriteFindings(ranks, page);
  WriteLost(ranks, page);
}

void WriteRanksLayout(const proto::Ranks& ranks, ReportPage& page) {
  WriteGroups(ranks, page);
  WritePipeline(ranks, page);
  WriteClockOffsets(ranks, page);
  WriteNotes(ranks, page);
}

std::string WriteRanksText(const proto::Ranks& ranks, const TextOptions& options,
                           std::size_t rows) {
  TextPage page(options.color, options.width);
  WriteRanksSummary(ranks, page);
  WriteRows(ranks, options, rows == 0 ? static_cast<std::size_t>(ranks.ranks_size()) : rows, page);
  WriteClockOffsets(ranks, page);
  WriteGroups(ranks, page);
  WriteLinks(ranks, page, options.width);
  WritePipeline(ranks, page);
  WriteNotes(ranks, page);
  return page.text();
}

}  // namespace traceinject
