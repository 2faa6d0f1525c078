// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

constexpr std::size_t kProductRows = 10;  // a model has many shapes, and few that matter

void WriteTitle(TextReport& to) {
  const proto::Run& run = to.report.run();
  // Once where a merged file holds several processes.
  std::string files;
  std::set<std::string_view> named;
  for (const proto::Source& source : to.report.sources()) {
    if (named.insert(source.path()).second) files += (files.empty() ? "" : ", ") + source.path();
  }
  to.page.Sentence(files.empty() ? "no files" : files, 0);
  if (to.report.devices().empty()) return;
  to.page.Sentence(fmt::format(
      "{}, {} ({}), recorded {}", Plural(run.process_count(), "process", "es"),
      Plural(run.device_count(), "GPU"), GpuNames(to.report), FormatDate(run.origin_unix_ns())));
  const proto::Window& window = run.window();
  if (run.has_window())
    to.page.Sentence(fmt::format("GPU work: {} ({} to {} after the first GPU operation{})",
                                 FormatTime(window.end_ns() - window.start_ns()),
                                 FormatTime(window.start_ns()), FormatTime(window.end_ns()),
                                 window.restricted() ? "; part of the recording" : ""));
  WriteScope(to);
  const proto::Health& health = to.report.health();
  if (health.grade() != proto::Health::GRADE_GOOD) {
    to.page.Sentence(
        to.page.Colored(health.grade() == proto::Health::GRADE_BAD
                            ? "Trace health is bad: do not rely on these figures; see below."
                        : health.grade() == proto::Health::GRADE_LOSSY
                            ? "Trace health: some data is missing; see below."
                            : "Trace health is unknown: the recording has no health counters.",
                        33));
  }
}

void WriteNotes(TextReport& to) {
  for (const std::string& note : to.report.notes()) to.page.Sentence("note: " + note);
}

void WriteDevice(TextReport& to, const proto::DeviceReport& device) {
  const bool only = to.report.devices().size() == 1;
  to.page.Heading(WithDetail(device.label(), device.name()));
  if (!only && device.has_partition()) WriteRatios(to, device.partition());
  WritePeaks(to, device);
  if (device.has_telemetry()) WriteTelemetry(to, device.telemetry());
  if (device.has_counter_sampling()) WriteCounterSampling(to, device.counter_sampling());
  if (device.has_measured_use()) WriteMeasuredUse(to, device.measured_use());
  WriteAllocator(to, device);
  WriteCaptureGaps(to, device);
  WriteIdleCauses(to, device.idle_causes(), device.partition().idle_ns(), device.source());
  if (device.longest_gaps_size() > 0) to.page.Line("  longest gaps:");
  WriteGaps(to, device);
  if (only) return;
  WriteKernels(to, device.kernels(), device.top_kernels(), to.options.device_rows);
  WriteCopies(to, device.copies(), to.options.device_rows);
  WriteNccl(to, device.nccl(), to.options.device_rows);
}

// Without what the verdict has said already.
Repeated<proto::RankFinding> FindingsBesideVerdict(TextReport& to) {
  Repeated<proto::RankFinding> others;
  for (const proto::RankFinding& finding : to.report.rank_findings()) {
    const auto& evidence = to.report.verdict().evidence();
    if (std::any_of(evidence.begin(), evidence.end(),
                    [&](const proto::Evidence& line) { return line.text() == finding.text(); }))
      to.page.Sentence(finding.name() + ": see the verdict");
    else
      *others.Add() = finding;
  }
  return others;
}

}  // namespace

std::string WriteVerdictText(const proto::Report& report, const TextOptions& options) {
  TextPage page(options.color, options.width);
  TextReport to{report, options, page};
  WriteHungRun(to);
  WriteTried(to);
  WriteVerdict(to);
  return page.text();
}

std::string WriteText(const proto::Report& report, const TextOptions& options) {
  TextPage page(options.color, options.width);
  TextReport to{report, options, page};
  if (!options.full) {
    WriteFirstScreen(to);
    return page.text();
  }
  const bool several = to.report.devices().size() > 1;
  page.Text(WriteVerdictText(report, options));
  if (!report.rank_findings().empty()) {
    to.page.Heading("Between ranks (more: analyze ranks)");
    WriteRankFindings(FindingsBesideVerdict(to), to.page);
  }
  WriteTitle(to);
  WriteNotes(to);
  WriteStalls(to);
  WriteHygiene(to);
  if (!to.report.devices().empty()) {
    for (const proto::DeviceSteps& steps : to.report.steps()) {
      if (several && steps.label() != to.report.verdict().device()) continue;
      WriteSteps(to, steps);
      WriteRunTime(to, steps);
    }
    WriteTime(to);
    WriteSamples(to);
    if (several) {
      WriteDevices(to);
      if (FindWithheld(to, "partition", kAnySource) == nullptr) WriteSpreads(to);
      WriteIdleCauses(to, to.report.run().idle_causes(), to.report.run().partition().idle_ns(),
                      kAnySource);
    }
    for (const proto::DeviceReport& device : to.report.devices()) {
      if (!several) WriteDevice(to, device);
    }
    WriteWaterfall(to);
    const proto::Run& run = to.report.run();
    to.page.Heading(several ? "Kernels, all GPUs, by time" : "Kernels, by time");
    WriteKernels(to, run.kernels(), run.top_kernels(), kAllRows);
    to.page.Heading("Kernel classes");
    WriteKernelClasses(to, run.classes());
    if (run.kernel_findings_size() > 0) {
      to.page.Heading("Kernel findings");
      WriteKernelFindings(to, run.kernel_findings());
    }
    if (run.matrix_products().calls() + run.matrix_products().attention().calls() > 0) {
      to.page.Heading(several ? "GEMMs, all GPUs" : "GEMMs");
      WriteMatrixProducts(to, run.matrix_products(), kProductRows);
    }
    to.page.Heading(several ? "Copies, all GPUs" : "Copies");
    WriteCopies(to, run.copies(), kAllRows);
    if (run.has_memory_calls()) {
      to.page.Heading(several ? "Memory calls, all GPUs" : "Memory calls");
      WriteMemoryCalls(to, run.memory_calls());
    }
    to.page.Heading(several ? "Communication, all GPUs" : "Communication");
    WriteNccl(to, run.nccl(), kAllRows);
    WriteNcclTransports(to, run.nccl());
    for (const proto::DeviceReport& device : to.report.devices()) {
      const std::string label = several ? device.label() : std::string();
      if (device.nccl().has_link()) WriteRankLink(to, device.nccl().link(), label);
    }
    for (const proto::DeviceReport& device : to.report.devices()) {
      if (device.link_findings().empty()) continue;
      if (several && device.label() != to.report.verdict().device()) continue;
      to.page.Heading("Copy and communication findings" +
                      (several ? " of " + device.label() : std::string()));
      WriteLinkFindings(to, device);
    }
    if (several) {
      for (const proto::DeviceReport& device : to.report.devices()) WriteDevice(to, device);
    }
    WriteMfu(to);
  }
  WriteRecordingCosts(to);
  WriteHealth(to);
  WriteTrust(to);
  return page.text();
}

}  // namespace traceinject
