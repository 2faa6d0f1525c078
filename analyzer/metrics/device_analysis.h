// SPDX-License-Identifier: Apache-2.0
// All that the metrics find out about each device of a run, before it is written into a report.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/attention.h"
#include "analyzer/metrics/build_report.h"
#include "analyzer/metrics/copies.h"
#include "analyzer/metrics/gap_causes.h"
#include "analyzer/metrics/gaps.h"
#include "analyzer/metrics/health.h"
#include "analyzer/metrics/kernel_findings.h"
#include "analyzer/metrics/kernels.h"
#include "analyzer/metrics/matrix_products.h"
#include "analyzer/metrics/memory_calls.h"
#include "analyzer/metrics/nccl_summary.h"
#include "analyzer/metrics/partition.h"
#include "analyzer/metrics/samples.h"
#include "analyzer/metrics/step_flops.h"
#include "analyzer/metrics/telemetry.h"
#include "analyzer/metrics/window.h"

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
std::deque<DeviceAnalysis> AnalyseDevices(const Run& run, TimeNs origin,
                                          const ReportOptions& options, Report& report);

// Compares the collectives of the ranks with each other; what does not match becomes a note.
void MatchRanks(std::deque<DeviceAnalysis>& devices, Report& report);

}  // namespace traceinject
