// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

struct RangeRow {
  const proto::NvtxRange& range;
  std::int64_t all_gpu_ns = 0;
};

Cell Each(const RangeRow& row, std::int64_t total) {
  if (row.range.count() == 0) return Cell();
  return Cell(static_cast<double>(total) / static_cast<double>(row.range.count()));
}

constexpr ColumnOf<RangeRow> kNvtxColumns[] = {
    {{"name", "range", Unit::kName, Shown::kAlways,
      "range text; step numbers and emit_nvtx's operator suffixes are removed"},
     [](const RangeRow& row) { return Cell(row.range.name()); }},
    {{"gpu_share", "share", Unit::kShare, Shown::kAlways,
      "gpu_total_ns as a share of all GPU work"},
     [](const RangeRow& row) {
       return CellIf(row.all_gpu_ns > 0, static_cast<double>(row.range.gpu_total_ns()) /
                                             static_cast<double>(row.all_gpu_ns));
     }},
    {{"gpu_total_ns", "GPU total", Unit::kTime, Shown::kAlways,
      "durations of kernels, copies and memsets kernels launched inside"},
     [](const RangeRow& row) { return Cell(row.range.gpu_total_ns()); }},
    {{"gpu_self_ns", "GPU self", Unit::kTime, Shown::kAlways,
      "of those not launched in a nested range"},
     [](const RangeRow& row) { return Cell(row.range.gpu_self_ns()); }},
    {{"host_total_ns", "host total", Unit::kTime, Shown::kAlways, "duration of the ranges"},
     [](const RangeRow& row) { return CellIf(!row.range.outside(), row.range.host_total_ns()); }},
    {{"host_self_ns", "host self", Unit::kTime, Shown::kIfItFits, "without nested ranges"},
     [](const RangeRow& row) { return CellIf(!row.range.outside(), row.range.host_self_ns()); }},
    {{"count", "count", Unit::kCount, Shown::kAlways,
      "ranges with GPU work in the window; ranges without GPU work count if they begin in it"},
     [](const RangeRow& row) { return CellIf(!row.range.outside(), row.range.count()); }},
    {{"kernels_total", "kernels", Unit::kCount, Shown::kIfItFits, "kernels launched inside"},
     [](const RangeRow& row) { return Cell(row.range.kernels_total()); }},
    {{"domain", "domain", Unit::kText, Shown::kIfRowsDiffer,
      "NVTX domain; empty: the default domain"},
     [](const RangeRow& row) { return Cell(row.range.domain()); }},
    {{"kernels_self", "kernels self", Unit::kCount, Shown::kOnRequest,
      "of those not launched in a nested range"},
     [](const RangeRow& row) { return Cell(row.range.kernels_self()); }},
    {{"gpu_mean_ns", "GPU each", Unit::kTime, Shown::kOnRequest, "gpu_total_ns / count"},
     [](const RangeRow& row) { return Each(row, row.range.gpu_total_ns()); }},
    {{"host_mean_ns", "host each", Unit::kTime, Shown::kOnRequest, "host_total_ns / count"},
     [](const RangeRow& row) { return Each(row, row.range.host_total_ns()); }},
};

}  // namespace

std::vector<TableColumn> NvtxColumns() { return ColumnsOf<RangeRow>(kNvtxColumns); }

Table NvtxTable(const proto::Report& report) {
  std::int64_t all_gpu_ns = 0;
  for (const proto::NvtxRange& range : report.nvtx_ranges()) all_gpu_ns += range.gpu_self_ns();
  std::vector<RangeRow> rows;
  for (const proto::NvtxRange& range : report.nvtx_ranges()) rows.push_back({range, all_gpu_ns});
  return TableOf<RangeRow>(kNvtxColumns, rows);
}

}  // namespace traceinject
