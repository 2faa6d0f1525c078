// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

struct GapRow {
  const proto::DeviceReport& device;
  const proto::Gap& gap;
};

constexpr ColumnOf<GapRow> kColumns[] = {
    {{"start_ns", "start", Unit::kMoment, Shown::kAlways,
      "after the first GPU operation: as --from here and in traceview"},
     [](const GapRow& row) { return Cell(row.gap.start_ns()); }},
    {{"duration_ns", "length", Unit::kTime, Shown::kAlways, "nothing ran on the whole GPU"},
     [](const GapRow& row) { return Cell(row.gap.duration_ns()); }},
    {{"cause", "cause", Unit::kText, Shown::kAlways, "what most of it went on"},
     [](const GapRow& row) {
       return row.gap.causes().empty() ? Cell("unknown") : Cell(row.gap.causes(0).cause());
     }},
    {{"gpu", "GPU", Unit::kText, Shown::kIfRowsDiffer, "process and CUDA ordinal"},
     [](const GapRow& row) { return Cell(row.device.label()); }},
    {{"ended_by", "ended by", Unit::kKernelName, Shown::kAlways, "kernel or copy that ran next"},
     [](const GapRow& row) { return CellIf(row.gap.has_ended_by(), row.gap.ended_by()); }},
    {{"launch_api", "launched by", Unit::kText, Shown::kIfItFits, "the call that launched it"},
     [](const GapRow& row) { return CellIf(row.gap.has_launch_api(), row.gap.launch_api()); }},
    {{"thread", "thread", Unit::kOrdinal, Shown::kOnRequest, "id of the thread of that call"},
     [](const GapRow& row) { return CellIf(row.gap.has_thread(), row.gap.thread()); }},
    {{"thread_name", "thread name", Unit::kText, Shown::kOnRequest, "its name"},
     [](const GapRow& row) { return TextIfAny(row.gap.thread_name()); }},
    {{"cause_ns", "by cause", Unit::kTime, Shown::kOnRequest, "the part of the gap that it took"},
     [](const GapRow& row) {
       return row.gap.causes().empty() ? Cell(row.gap.duration_ns()) : Cell(row.gap.causes(0).ns());
     }},
    {{"second_cause", "then", Unit::kText, Shown::kOnRequest, "what most of the rest went on"},
     [](const GapRow& row) {
       return row.gap.causes_size() < 2 ? Cell() : Cell(row.gap.causes(1).cause());
     }},
    {{"launch_ns", "launch", Unit::kMoment, Shown::kOnRequest, "when that call began"},
     [](const GapRow& row) {
       return CellIf(row.gap.has_launch_start_ns(), row.gap.launch_start_ns());
     }},
    {{"host_late_ns", "host late", Unit::kTime, Shown::kOnRequest, "of the gap, before that call"},
     [](const GapRow& row) { return Cell(row.gap.host_late_ns()); }},
    {{"launch_latency_ns", "latency", Unit::kTime, Shown::kOnRequest,
      "of the gap, from that call to the operation"},
     [](const GapRow& row) { return Cell(row.gap.launch_latency_ns()); }},
    {{"text", "in words", Unit::kText, Shown::kOnRequest, "what the host did meanwhile"},
     [](const GapRow& row) { return Cell(row.gap.text()); }},
};

}  // namespace

std::vector<TableColumn> GapColumns() { return ColumnsOf<GapRow>(kColumns); }

Table GapTable(const proto::Report& report) {
  std::vector<GapRow> rows;
  for (const proto::DeviceReport& device : report.devices()) {
    for (const proto::Gap& gap : device.longest_gaps()) rows.push_back({device, gap});
  }
  return TableOf<GapRow>(kColumns, rows);
}

}  // namespace traceinject
