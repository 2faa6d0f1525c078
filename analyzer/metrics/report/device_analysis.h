// SPDX-License-Identifier: Apache-2.0
// All that the metrics find out about each device of a run, before it is written into a report.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/telemetry.h"
#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/idle/gaps.h"
#include "analyzer/metrics/idle/memory_calls.h"
#include "analyzer/metrics/idle/partition.h"
#include "analyzer/metrics/idle/samples.h"
#include "analyzer/metrics/kernels/attention.h"
#include "analyzer/metrics/kernels/kernel_findings.h"
#include "analyzer/metrics/kernels/kernels.h"
#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/metrics/kernels/step_flops.h"
#include "analyzer/metrics/links/nccl_summary.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/metrics/report/health.h"
#include "analyzer/metrics/steps/window.h"

namespace traceinject {

// Everything found out about one device, kept until the run's sums are made.
struct DeviceAnalysis {
  std::size_t rank_index = 0;
  const Rank* rank = nullptr;
  const Device* device = nullptr;
  std::string label;
  Window window;
  OpRange range;
  Partition partition;
  Gaps gaps;
  std::vector<IdlePiece> idle;  // where ReportOptions::gap_causes asks for it
  std::vector<CopyStats> copies;
  NcclLinks nccl;
  CommKernels comm_kernels;
  KernelCounter kernels;
  MatrixProducts products;
  MemoryCalls memory;
  std::vector<KernelFinding> findings;
  AttentionCalls attention;
  std::optional<StepFlops> step_flops;
  std::optional<SampleRate> samples;  // of the process
  std::optional<Telemetry> telemetry;
  JoinRate join;
};

// Devices with work in the chosen time, in the order of the run; times of the limits are relative
// to `origin`. Those without get a note in the report. A deque: what points at an analysis stays
// good. Stopped: those that were finished.
std::deque<DeviceAnalysis> AnalyzeDevices(const Run& run, TimeNs origin,
                                          const ReportOptions& options, Report& report);

// Compares the collectives of the ranks with each other; what does not match becomes a note.
void MatchRanks(std::deque<DeviceAnalysis>& devices, Report& report);

}  // namespace traceinject
