// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/report_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/common/stop_flag.h"
#include "analyzer/common/whole.h"
#include "analyzer/metrics/places/calls_beneath.h"
#include "analyzer/metrics/places/host_flame.h"
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
    to.set_place(PlaceText(rank, row.place));
    if (grouping == CodeGrouping::kFunction) to.set_first_line(place.first_line);
    if (grouping == CodeGrouping::kLine) {
      to.set_line(place.line);
      to.set_text(SourceLine(to.file(), place.line, recorded_at_ns));
    }
  }
  to.set_module(row.module);
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

void WriteRows(const RunAnalysis& analysis, const DeviceFigures& found, CodeGrouping grouping,
               proto::DeviceReport& to) {
  if (!found.places) return;
  to.set_code_steps(Whole(found.places->steps));
  std::optional<DevicePlaces> of_modules;
  if (IsOfModules(grouping) && found.places->frame != SiteFrame::kModule)
    of_modules = FindDevicePlaces(found, SiteFrame::kModule);
  std::vector<CodeRow> rows = RowsOfCode(found, of_modules ? *of_modules : *found.places, grouping);
  std::stable_sort(rows.begin(), rows.end(), [](const CodeRow& a, const CodeRow& b) {
    return std::tuple(a.idle_ns, a.own, a.looks, a.kernel_ns) >
           std::tuple(b.idle_ns, b.own, b.looks, b.kernel_ns);
  });
  if (IsOfModules(grouping)) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CodeRow& a, const CodeRow& b) { return a.kernel_ns > b.kernel_ns; });
  }
  for (const CodeRow& row : rows)
    CodeRowOf(*found.rank, row, analysis.run->base_ns + found.rank->start, grouping,
              *to.add_code());
}

// Where the table says no more than that one line has nearly all of it.
void AddBeneath(const DeviceFigures& found, Report& to) {
  if (!found.places) return;
  const DevicePlaces& places = *found.places;
  std::vector<const TimeByPlace*> idle;
  for (const TimeByPlace& of_cause : places.idle) idle.push_back(&of_cause);
  const TimeByPlace* const kernels[] = {&places.kernels, &places.backward};
  const std::pair<const char*, TimeByPlace> parts[] = {{"the GPU's idle time", SumOf(idle)},
                                                       {"the kernel time", SumOf(kernels)}};
  for (const auto& [of, time] : parts) {
    const std::string beneath = CallsBeneath(*found.rank, time);
    if (beneath.empty()) continue;
    to.add_notes(fmt::format("one line has {:.0f} % of {}{}; in the libraries most of it is at {}",
                             100 * time.share_of_first(1), of,
                             to.devices_size() > 1 ? " on " + found.label : std::string(),
                             beneath));
  }
}

void PartsOf(const LooksByState& looks, google::protobuf::RepeatedPtrField<proto::FlamePart>& to) {
  for (std::size_t state = 0; state < kGpuStates; ++state) {
    if (looks[state] <= 0) continue;
    proto::FlamePart& part = *to.Add();
    part.set_state(GpuStateName(state));
    part.set_samples(looks[state]);
  }
}

void FrameOf(const Rank& rank, const FlameFrame& frame, proto::FlameFrame& to) {
  const CodePlace& place = rank.places[frame.place];
  to.set_depth(static_cast<int>(frame.depth));
  to.set_file(std::string(rank.string(place.file)));
  to.set_line(place.line);
  to.set_function(std::string(rank.string(place.function)));
  to.set_own(frame.own);
  to.set_samples(frame.looks);
  to.set_place(PlaceText(rank, frame.place));
  PartsOf(frame.states, *to.mutable_parts());
}

void FlameOf(const Rank& rank, const HostFlame& flame, proto::HostFlame& to) {
  to.set_thread(rank.threads[flame.thread].tid);
  to.set_thread_name(rank.threads[flame.thread].name);
  to.set_samples(flame.looks);
  PartsOf(flame.states, *to.mutable_parts());
  if (const TimeNs period = LookPeriod(rank); period > 0) to.set_sample_ns(period);
  for (const FlameFrame& frame : flame.frames) FrameOf(rank, frame, *to.add_frames());
  to.set_left_out(static_cast<std::int64_t>(flame.left_out));
}

}  // namespace

Report BuildReportWithCode(const Run& run, const ReportOptions& options, CodeGrouping grouping) {
  ReportOptions of_grouping = options;
  if (IsOfModules(grouping)) of_grouping.site = SiteFrame::kModule;
  return WriteReportWithCode(AnalyzeRun(run, of_grouping, Depth::kCauses), grouping);
}

Report WriteReportWithCode(const RunAnalysis& analysis, CodeGrouping grouping) {
  Report report = WriteFigures(analysis);
  int index = 0;
  for (const DeviceFigures& found : analysis.devices) {
    if (IsStopped(analysis.options.stop)) break;  // not all devices may be there
    WriteRows(analysis, found, grouping, *report.mutable_devices(index++));
    if (grouping == CodeGrouping::kLine) AddBeneath(found, report);
  }
  MakePrintable(report);
  return report;
}

void WriteCodeOfDevice(const RunAnalysis& analysis, const DeviceFigures& found,
                       proto::DeviceReport& to) {
  if (analysis.options.code) WriteRows(analysis, found, CodeGrouping::kLine, to);
  if (!analysis.options.host_flames) return;
  for (const HostFlame& flame : FindHostFlames(found))
    FlameOf(*found.rank, flame, *to.add_host_flames());
}

}  // namespace traceinject
