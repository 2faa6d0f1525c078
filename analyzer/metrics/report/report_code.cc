// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/report_code.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "analyzer/common/whole.h"
#include "analyzer/metrics/places/source_line.h"
#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/report/printable.h"

namespace traceinject {
namespace {

void CodeRowOf(const Rank& rank, const CodeRow& row, std::int64_t recorded_at_ns,
               CodeGrouping grouping, proto::CodeRow& to) {
  if (row.place != kNone) {
    const CodePlace& place = rank.places[row.place];
    to.set_file(std::string(rank.string(place.file)));
    to.set_function(std::string(rank.string(place.function)));
    to.set_own(row.own);
    if (grouping == CodeGrouping::kLine) {
      to.set_line(place.line);
      to.set_text(SourceLine(to.file(), place.line, recorded_at_ns));
    }
  }
  if (row.thread != kNone) {
    to.set_thread(rank.threads[row.thread].tid);
    to.set_thread_name(rank.threads[row.thread].name);
  }
  to.set_samples(Whole(row.looks));
  if (const auto period = static_cast<double>(LookPeriod(rank)); period > 0) {
    to.set_host_ns(Whole(row.looks * period));
    to.set_host_self_ns(Whole(row.self_looks * period));
    to.set_host_total_ns(Whole(row.total_looks * period));
  }
  to.set_idle_ns(Whole(row.idle_ns));
  to.set_idle_low_ns(Whole(row.idle_low_ns));
  to.set_idle_high_ns(Whole(row.idle_high_ns));
  if (row.cause_ns > 0) to.set_cause(std::string(IdleCauseName(row.cause)));
  to.set_wait_ns(Whole(row.wait_ns));
  to.set_kernel_ns(Whole(row.kernel_ns));
  to.set_kernel_low_ns(Whole(row.kernel_low_ns));
  to.set_kernel_high_ns(Whole(row.kernel_high_ns));
}

void WriteCode(const RunAnalysis& analysis, CodeGrouping grouping, Report& report) {
  int index = 0;
  for (const DeviceFigures& found : analysis.devices) {
    proto::DeviceReport& device = *report.mutable_devices(index++);
    if (!found.places) continue;
    device.set_code_steps(Whole(found.places->steps));
    std::vector<CodeRow> rows = RowsOfCode(found, *found.places, grouping);
    std::stable_sort(rows.begin(), rows.end(), [](const CodeRow& a, const CodeRow& b) {
      return std::tuple(a.idle_ns, a.own, a.looks, a.kernel_ns) >
             std::tuple(b.idle_ns, b.own, b.looks, b.kernel_ns);
    });
    for (const CodeRow& row : rows)
      CodeRowOf(*found.rank, row, analysis.run->base_ns + found.rank->start, grouping,
                *device.add_code());
  }
}

}  // namespace

Report BuildReportWithCode(const Run& run, const ReportOptions& options, CodeGrouping grouping) {
  return WriteReportWithCode(AnalyzeRun(run, options, Depth::kCauses), grouping);
}

Report WriteReportWithCode(const RunAnalysis& analysis, CodeGrouping grouping) {
  Report report = WriteFigures(analysis);
  WriteCode(analysis, grouping, report);
  MakePrintable(report);
  return report;
}

}  // namespace traceinject
