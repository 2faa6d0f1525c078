// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/ranks_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

using proto::RankRow;

// How late a rank is, as a share of what its peers usually take: the mark of the first limit that
// it does not reach.
constexpr std::pair<double, char> kLateness[] = {
    {0.01, '.'}, {0.02, ':'}, {0.05, '-'}, {0.10, '+'}, {0.20, '*'}};
constexpr char kLatest = '#';

std::string HeatStrip(const RankRow& row) {
  std::string strip;
  for (const double share : row.lateness()) {
    const auto* const mark = std::find_if(std::begin(kLateness), std::end(kLateness),
                                          [&](const auto& limit) { return share < limit.first; });
    strip += mark == std::end(kLateness) ? kLatest : mark->second;
  }
  return strip;
}

std::string LostText(const RankRow& row) {
  return row.has_lost_rem()
             ? fmt::format("{:.0f}/{:.0f} %", 100 * row.lost_rem(), 100 * row.lost_add())
             : "";
}

constexpr ColumnOf<RankRow> kRankColumns[] = {
    {{"rank", "rank", Unit::kOrdinal, Shown::kAlways, "global rank in the job"},
     [](const RankRow& row) { return CellIf(row.has_rank(), std::int64_t{row.rank()}); }},
    {{"device", "GPU", Unit::kOrdinal, Shown::kIfRowsDiffer, "CUDA ordinal in the process"},
     [](const RankRow& row) { return Cell(std::int64_t{row.device()}); }},
    {{"host", "host", Unit::kText, Shown::kIfRowsDiffer, "host it ran on"},
     [](const RankRow& row) { return TextIfAny(row.host()); }},
    {{"stage", "stage", Unit::kOrdinal, Shown::kIfRowsDiffer, "pipeline stage, from 0"},
     [](const RankRow& row) { return CellIf(row.has_stage(), std::int64_t{row.stage()}); }},
    {{"step_ns", "step", Unit::kTime, Shown::kAlways, "mean of the regular steps"},
     [](const RankRow& row) { return CellIf(row.has_step_ns(), row.step_ns()); }},
    {{"own_ns", "own time", Unit::kTime, Shown::kAlways,
      "step time not blocked in communication: what the rank would take alone"},
     [](const RankRow& row) { return CellIf(row.has_own_ns(), row.own_ns()); }},
    {{"excess_ns", "over peers", Unit::kTime, Shown::kAlways,
      "own time over the median of ranks with the same work"},
     [](const RankRow& row) { return CellIf(row.has_usual_ns(), row.own_ns() - row.usual_ns()); }},
    {{"wait_suffered_ns", "waits", Unit::kTime, Shown::kAlways,
      "waiting in collectives for the last rank, per step"},
     [](const RankRow& row) { return CellIf(row.has_wait_suffered_ns(), row.wait_suffered_ns()); }},
    {{"wait_caused_ns", "delays", Unit::kTime, Shown::kAlways,
      "time others waited for it: how much later it arrived than the second last, per step"},
     [](const RankRow& row) { return CellIf(row.has_wait_caused_ns(), row.wait_caused_ns()); }},
    {{"lateness", "late, over the run", Unit::kText, Shown::kIfItFits,
      "own time over the peers' for each part of the run: . below 1 %, : 2, - 5, + 10, * 20, # "
      "above"},
     [](const RankRow& row) { return TextIfAny(HeatStrip(row)); }},
    {{"lost", "rem/add", Unit::kText, Shown::kIfRowsDiffer,
      "shares of the job's lost time: recovered if only this rank ran at its peers' median (rem), "
      "and left if all ranks but this one did (add)"},
     [](const RankRow& row) { return TextIfAny(LostText(row)); }},
    {{"exposed_ns", "exposed", Unit::kTime, Shown::kIfItFits,
      "communication with nothing else running, per step"},
     [](const RankRow& row) { return CellIf(row.has_exposed_ns(), row.exposed_ns()); }},
    {{"busy_share", "busy", Unit::kShare, Shown::kIfItFits,
      "share of time something ran on the GPU"},
     [](const RankRow& row) { return CellIf(row.has_busy_share(), row.busy_share()); }},
    {{"transfer_ns", "transfer", Unit::kTime, Shown::kOnRequest,
      "time in collectives after the last rank arrived, per step"},
     [](const RankRow& row) { return CellIf(row.has_transfer_ns(), row.transfer_ns()); }},
    {{"contention_ns", "GPU full", Unit::kTime, Shown::kOnRequest,
      "collective kernels delayed because its own GPU was full, per step"},
     [](const RankRow& row) { return CellIf(row.has_contention_ns(), row.contention_ns()); }},
    {{"clock_offset_ns", "clock", Unit::kTime, Shown::kIfItFits,
      "clock offset from the reference, in the middle of the run"},
     [](const RankRow& row) { return CellIf(row.has_clock_offset_ns(), row.clock_offset_ns()); }},
    {{"clock_sigma_ns", "+-", Unit::kTime, Shown::kIfItFits,
      "one standard deviation of the offset"},
     [](const RankRow& row) { return CellIf(row.has_clock_sigma_ns(), row.clock_sigma_ns()); }},
    {{"clock_drift_ppm", "drift, ppm", Unit::kNumber, Shown::kOnRequest,
      "clock drift, parts per million"},
     [](const RankRow& row) { return CellIf(row.has_clock_drift_ppm(), row.clock_drift_ppm()); }},
    {{"steps", "steps", Unit::kCount, Shown::kOnRequest, "regular steps"},
     [](const RankRow& row) { return Cell(row.steps()); }},
    {{"gpu_name", "GPU model", Unit::kText, Shown::kOnRequest, "GPU name"},
     [](const RankRow& row) { return TextIfAny(row.gpu()); }},
    {{"dropped", "dropped", Unit::kCount, Shown::kIfRowsDiffer, "lost records"},
     [](const RankRow& row) { return Cell(row.dropped()); }},
    {{"ended", "ended", Unit::kText, Shown::kIfRowsDiffer,
      "closed: complete; open: killed, or still running"},
     [](const RankRow& row) { return Cell(std::string(row.closed() ? "closed" : "open")); }},
    {{"clock_reason", "no clock", Unit::kText, Shown::kOnRequest, "why it could not be aligned"},
     [](const RankRow& row) { return TextIfAny(row.clock_reason()); }},
    {{"file", "file", Unit::kText, Shown::kOnRequest, "recording file"},
     [](const RankRow& row) { return TextIfAny(row.path()); }},
};

std::string CarriedOut(const proto::Link& row) {
  return row.protocol().empty() ? row.algorithm() : row.algorithm() + " " + row.protocol();
}

constexpr ColumnOf<proto::Link> kLinkColumns[] = {
    {{"use", "use", Unit::kText, Shown::kAlways, "what the groups are used for"},
     [](const proto::Link& row) { return TextIfAny(row.use()); }},
    {{"function", "function", Unit::kText, Shown::kAlways, "NCCL function"},
     [](const proto::Link& row) { return TextIfAny(row.function()); }},
    {{"algorithm", "algo / proto", Unit::kText, Shown::kIfRowsDiffer, "algorithm and protocol"},
     [](const proto::Link& row) { return TextIfAny(CarriedOut(row)); }},
    {{"message", "message", Unit::kText, Shown::kAlways, "size S: at least this"},
     [](const proto::Link& row) {
       return Cell(MessageSize(row.bucket_low_bytes(), row.latency_bound()));
     }},
    {{"ranks", "ranks", Unit::kCount, Shown::kAlways, "ranks in a group"},
     [](const proto::Link& row) { return Cell(std::int64_t{row.size()}); }},
    {{"groups", "groups", Unit::kCount, Shown::kAlways, "groups that did this"},
     [](const proto::Link& row) { return Cell(row.groups()); }},
    {{"count", "count", Unit::kCount, Shown::kIfItFits, "operations"},
     [](const proto::Link& row) { return Cell(row.count()); }},
    {{"transfer_ns", "transfer", Unit::kTime, Shown::kAlways,
      "median transfer time, without waiting"},
     [](const proto::Link& row) { return Cell(row.transfer_ns()); }},
    {{"busbw_gb_per_s", "busbw", Unit::kGbPerS, Shown::kAlways, "busbw of the median group"},
     [](const proto::Link& row) { return CellIf(row.has_busbw_gb_per_s(), row.busbw_gb_per_s()); }},
    {{"slowest_gb_per_s", "slowest", Unit::kGbPerS, Shown::kIfRowsDiffer,
      "lowest busbw of a group"},
     [](const proto::Link& row) {
       return CellIf(row.groups() > 1 && row.has_slowest_gb_per_s(), row.slowest_gb_per_s());
     }},
    {{"fastest_gb_per_s", "fastest", Unit::kGbPerS, Shown::kIfRowsDiffer,
      "highest busbw of a group"},
     [](const proto::Link& row) {
       return CellIf(row.groups() > 1 && row.has_fastest_gb_per_s(), row.fastest_gb_per_s());
     }},
    {{"link_share", "of link", Unit::kShare, Shown::kAlways, "busbw over the published link rate"},
     [](const proto::Link& row) { return CellIf(row.has_link_share(), row.link_share()); }},
    {{"link", "link", Unit::kName, Shown::kIfItFits, "the slowest between the ranks"},
     [](const proto::Link& row) { return TextIfAny(row.link()); }},
};

// An operation with the name of its last rank.
struct NamedCollective {
  const proto::Collective* row = nullptr;
  std::string last;
};

constexpr ColumnOf<NamedCollective> kCollectiveColumns[] = {
    {{"start_ns", "start", Unit::kMoment, Shown::kAlways, "when the first rank arrived"},
     [](const NamedCollective& one) { return Cell(one.row->start_ns()); }},
    {{"function", "function", Unit::kText, Shown::kAlways, "NCCL function"},
     [](const NamedCollective& one) { return Cell(one.row->function()); }},
    {{"bytes", "bytes", Unit::kBytes, Shown::kAlways, "size S as nccl-tests defines it"},
     [](const NamedCollective& one) { return CellIf(one.row->has_bytes(), one.row->bytes()); }},
    {{"ranks", "ranks", Unit::kCount, Shown::kAlways, "communicator size"},
     [](const NamedCollective& one) { return Cell(std::int64_t{one.row->size()}); }},
    {{"length_ns", "length", Unit::kTime, Shown::kAlways, "from first arrival to the end"},
     [](const NamedCollective& one) { return Cell(one.row->length_ns()); }},
    {{"skew_ns", "skew", Unit::kTime, Shown::kAlways, "from first to last arrival"},
     [](const NamedCollective& one) { return Cell(one.row->skew_ns()); }},
    {{"transfer_ns", "transfer", Unit::kTime, Shown::kAlways, "after the last arrival"},
     [](const NamedCollective& one) { return Cell(one.row->transfer_ns()); }},
    {{"exposed_ns", "exposed", Unit::kTime, Shown::kAlways,
      "with nothing else running, mean over ranks"},
     [](const NamedCollective& one) { return Cell(one.row->exposed_ns()); }},
    {{"last", "last rank", Unit::kText, Shown::kAlways, "rank all others waited for"},
     [](const NamedCollective& one) { return TextIfAny(one.last); }},
    {{"sequence", "number", Unit::kOrdinal, Shown::kIfItFits,
      "NCCL sequence number for this function on the communicator"},
     [](const NamedCollective& one) {
       return CellIf(one.row->has_sequence(), one.row->sequence());
     }},
    {{"recorded", "recorded", Unit::kCount, Shown::kIfRowsDiffer,
      "ranks whose operation was found"},
     [](const NamedCollective& one) { return Cell(std::int64_t{one.row->recorded()}); }},
    {{"communicator", "communicator", Unit::kName, Shown::kIfItFits, "communicator id and name"},
     [](const NamedCollective& one) { return TextIfAny(one.row->communicator()); }},
};

}  // namespace

std::string RankLabel(const proto::Ranks& ranks, int row) {
  const RankRow& one = ranks.ranks(row);
  if (!one.has_rank()) return one.path();
  const bool several =
      std::any_of(ranks.ranks().begin(), ranks.ranks().end(), [&](const RankRow& other) {
        return other.has_rank() && other.rank() == one.rank() && other.device() != one.device();
      });
  return several ? fmt::format("rank {} GPU {}", one.rank(), one.device())
                 : fmt::format("rank {}", one.rank());
}

std::string NoRankFindingText(const proto::Ranks& ranks) {
  // As the steps of one rank (kMinSteps of metrics/steps): with less nothing says how they vary.
  constexpr std::int64_t kFewest = 3;
  if (ranks.ranks_size() == 0) return "The ranks were not compared.";
  if (ranks.ranks_size() == 1) return "Only one rank: nothing to compare.";
  if (ranks.matched_operations() == 0)
    return "Nothing is known between the ranks: none of their operations could be matched.";
  if (ranks.steps() < kFewest)
    return fmt::format(
        "The ranks were not compared: they have {} in common, and at least {} are needed.",
        ranks.steps() == 0 ? "no regular step" : Plural(ranks.steps(), "regular step"), kFewest);
  const auto compared = std::count_if(
      ranks.ranks().begin(), ranks.ranks().end(),
      [](const RankRow& row) { return row.has_usual_ns() || row.has_wait_suffered_ns(); });
  if (compared < ranks.ranks_size())
    return fmt::format("Of {} only {} could be compared: nothing is known of the others.",
                       Plural(ranks.ranks_size(), "rank"), compared);
  return "No rank, link or stage delays the others, and the work is balanced.";
}

Table RankTable(const proto::Ranks& ranks) { return TableOf<RankRow>(kRankColumns, ranks.ranks()); }

Table LinkTable(const proto::Ranks& ranks) {
  return TableOf<proto::Link>(kLinkColumns, ranks.links());
}

std::vector<TableColumn> CollectiveColumns() {
  return ColumnsOf<NamedCollective>(kCollectiveColumns);
}

Table CollectiveTable(const proto::Ranks& ranks) {
  std::vector<NamedCollective> rows;
  for (const proto::Collective& one : ranks.collectives())
    rows.push_back({&one, RankLabel(ranks, one.last_row())});
  return TableOf<NamedCollective>(kCollectiveColumns, rows);
}

}  // namespace traceinject
