// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

struct GapRow {
  const proto::DeviceReport& device;
  const proto::Gap& gap;
};

constexpr ColumnOf<GapRow> kGapsColumns[] = {
    {{"start_ns", "start", Unit::kMoment, Shown::kAlways,
      "after the first GPU operation, as for --from here and in traceview"},
     [](const GapRow& row) { return Cell(row.gap.start_ns()); }},
    {{"duration_ns", "length", Unit::kTime, Shown::kAlways, "nothing ran on the whole GPU"},
     [](const GapRow& row) { return Cell(row.gap.duration_ns()); }},
    {{"cause", "cause", Unit::kText, Shown::kAlways, "main cause"},
     [](const GapRow& row) {
       return row.gap.causes().empty() ? Cell("unknown") : Cell(row.gap.causes(0).cause());
     }},
    {{"gpu", "GPU", Unit::kText, Shown::kIfRowsDiffer, "process and CUDA ordinal"},
     [](const GapRow& row) { return Cell(row.device.label()); }},
    {{"ended_by", "ended by", Unit::kKernelName, Shown::kAlways, "kernel or copy that ran next"},
     [](const GapRow& row) { return CellIf(row.gap.has_ended_by(), row.gap.ended_by()); }},
    {{"launch_api", "launched by", Unit::kText, Shown::kIfItFits, "call that launched it"},
     [](const GapRow& row) { return CellIf(row.gap.has_launch_api(), row.gap.launch_api()); }},
    {{"thread", "thread", Unit::kOrdinal, Shown::kOnRequest, "id of the thread that made the call"},
     [](const GapRow& row) { return CellIf(row.gap.has_thread(), row.gap.thread()); }},
    {{"thread_name", "thread name", Unit::kText, Shown::kOnRequest, "its name"},
     [](const GapRow& row) { return TextIfAny(row.gap.thread_name()); }},
    {{"cause_ns", "cause time", Unit::kTime, Shown::kOnRequest, "part of the gap with this cause"},
     [](const GapRow& row) {
       return row.gap.causes().empty() ? Cell(row.gap.duration_ns()) : Cell(row.gap.causes(0).ns());
     }},
    {{"second_cause", "second cause", Unit::kText, Shown::kOnRequest, "main cause of the rest"},
     [](const GapRow& row) {
       return row.gap.causes_size() < 2 ? Cell() : Cell(row.gap.causes(1).cause());
     }},
    {{"launch_ns", "launch", Unit::kMoment, Shown::kOnRequest, "when the call began"},
     [](const GapRow& row) {
       return CellIf(row.gap.has_launch_start_ns(), row.gap.launch_start_ns());
     }},
    {{"host_late_ns", "host late", Unit::kTime, Shown::kOnRequest,
      "part of the gap before the call"},
     [](const GapRow& row) { return Cell(row.gap.host_late_ns()); }},
    {{"launch_latency_ns", "latency", Unit::kTime, Shown::kOnRequest,
      "part of the gap from the call to the operation"},
     [](const GapRow& row) { return Cell(row.gap.launch_latency_ns()); }},
    {{"text", "description", Unit::kText, Shown::kOnRequest, "what the host did during the gap"},
     [](const GapRow& row) { return Cell(row.gap.text()); }},
};

}  // namespace

std::vector<TableColumn> GapColumns() { return ColumnsOf<GapRow>(kGapsColumns); }

Table GapTable(const proto::Report& report) {
  std::vector<GapRow> rows;
  for (const proto::DeviceReport& device : report.devices()) {
    for (const proto::Gap& gap : device.longest_gaps()) rows.push_back({device, gap});
  }
  return TableOf<GapRow>(kGapsColumns, rows);
}

}  // namespace traceinject
