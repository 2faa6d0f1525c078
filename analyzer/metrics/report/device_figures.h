// SPDX-License-Identifier: Apache-2.0
// All figures of each device of a run, before they are written into a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/counters/kernel_counters.h"
#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/metrics/gpu/telemetry.h"
#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/idle/gaps.h"
#include "analyzer/metrics/idle/memory_calls.h"
#include "analyzer/metrics/idle/partition.h"
#include "analyzer/metrics/idle/queue_depth.h"
#include "analyzer/metrics/idle/run_time.h"
#include "analyzer/metrics/idle/samples.h"
#include "analyzer/metrics/kernels/attention.h"
#include "analyzer/metrics/kernels/compute_time.h"
#include "analyzer/metrics/kernels/kernel_findings.h"
#include "analyzer/metrics/kernels/kernels.h"
#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/metrics/kernels/measured_hfu.h"
#include "analyzer/metrics/kernels/step_flops.h"
#include "analyzer/metrics/links/nccl_summary.h"
#include "analyzer/metrics/places/code_rows.h"
#include "analyzer/metrics/places/device_places.h"
#include "analyzer/metrics/places/host_waits.h"
#include "analyzer/metrics/report/report_options.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/join_rate.h"

namespace traceinject {

// A device, and what was counted on it. Of its analysis, timeline and causes are there where
// Depth::kCauses asks for them.
struct DeviceFigures : DeviceAnalysis {
  // What the figures are of: the judged steps; all of the window without steps, and where
  // ReportOptions::all asks for it. There is at least one.
  Intervals times;
  bool uncertain = false;  // all of the window, as it is not sure what belongs to which step
  OpRanges ranges;         // of the operations that start in them
  Partition partition;
  Gaps gaps;
  std::vector<IdlePiece> idle;  // in time, where ReportOptions::gap_causes asks for it
  std::vector<CopyStats> copies;
  NcclLinks nccl;
  CommKernels comm_kernels;
  KernelCounter kernels;
  ComputeTime compute;
  std::vector<KernelCounters> kernel_counters;  // none: no hardware counters were sampled
  DeviceCounters counters;                      // likewise
  std::optional<MeasuredHfu> measured_hfu;      // likewise
  std::optional<double> busy_by_rated;          // clock of the busy GPU, by that of published rates
  MatrixProducts products;
  MemoryCalls memory;
  std::vector<KernelFinding> findings;
  AttentionCalls attention;
  std::optional<StepFlops> step_flops;
  std::optional<SampleRate> samples;  // of the process
  std::optional<Telemetry> telemetry;
  std::optional<QueueSummary> queue;  // in the judged steps, where Depth::kCauses asks for it
  std::optional<RunTime> run_time;  // where Depth::kCauses asks for it, and there are regular steps
  std::vector<HostWait> host_waits;    // likewise
  std::optional<DevicePlaces> places;  // where Depth::kCauses asks for them, and stacks are there
  JoinRate join;                       // of the window

  Interval hull() const { return {times.front().start, times.back().end}; }
};

enum class Depth : std::uint8_t { kFigures, kCauses };

// Devices with work in the chosen time, in the order of the run; times of the limits are relative
// to `origin`. Those without get a note. A deque: what points at one stays good. Stopped: those
// that were finished.
std::deque<DeviceFigures> AnalyzeDevices(const Run& run, TimeNs origin,
                                         const ReportOptions& options, Depth depth,
                                         std::vector<std::string>& notes);

// Measures again over all of the window.
void MeasureWhole(DeviceFigures& found, const ReportOptions& options, Depth depth);

// Measures again what other steps are judged of than before.
void JudgeOtherSteps(DeviceFigures& found, const std::vector<bool>& judged,
                     const ReportOptions& options);

// Compares the collectives of the ranks with each other; what does not match becomes a note.
void MatchRanks(std::deque<DeviceFigures>& devices, std::vector<std::string>& notes);

}  // namespace traceinject
