// SPDX-License-Identifier: Apache-2.0
// What of a run a report is about, and what it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/common/stop_flag.h"
#include "analyzer/metrics/kernels/mfu.h"
#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/steps/nvtx_steps.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Steps by number, as reports and the viewer tell them, both included: those of the program, else
// from 1.
struct StepChoice {
  std::int64_t first = 1, last = 1;
};

// Devices by rank and CUDA ordinal; empty: of all.
struct DeviceChoice {
  std::optional<int> rank = std::nullopt, ordinal = std::nullopt;

  bool takes(const Rank& of, const Device& device) const {
    return (!rank || of.rank == rank) && (!ordinal || device.ordinal == *ordinal);
  }
};

struct ReportOptions {
  TimeLimits limits;                // --from and --to, ns relative to the run's first GPU operation
  std::optional<StepChoice> steps;  // --steps: only these of each device
  std::optional<StepPattern> step_pattern;  // --step-regex
  bool all = false;                         // --all: figures of all that time, not of judged steps
  std::size_t top_kernels = 15;             // rows of each kernel table
  std::size_t longest_gaps = 10;            // per device
  std::size_t step_rows = 1000;             // per device
  DeviceChoice devices;  // figures of these and sums over them; what ranks tell of each other stays
  // More than the report shows, for the full tables.
  bool gap_causes = false;           // Gap.causes
  bool memory = false;               // Run.allocation_calls and DeviceReport.memory_samples
  bool nvtx_ranges = false;          // Report.nvtx_ranges
  bool device_samples = false;       // DeviceReport.device_samples
  bool code = false;                 // DeviceReport.code of the judged GPU
  bool host_flames = false;          // DeviceReport.host_flames, likewise
  bool last_stacks = false;          // Report.last_stacks
  bool by_communicator = false;      // rows of Nccl are told apart by communicator, too
  SiteFrame site = SiteFrame::kOwn;  // what counts as the code that something belongs to
  MfuOptions mfu;
  // Once true, what is left is not worked out: the report is of no use. It takes as long as the
  // longest pass over the events of a device.
  StopFlag stop = nullptr;

  const StepPattern* pattern() const { return step_pattern ? &*step_pattern : nullptr; }
};

}  // namespace traceinject
