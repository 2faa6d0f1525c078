// SPDX-License-Identifier: Apache-2.0
// Model FLOPs utilization: flops_per_step x steps / (time x sum of the GPUs' peaks). Steps and time
// are those of the judged steps (steps.h), where there are three or more: those that the program
// told of by optimizer steps or NVTX ranges, else those found in its work. Of fewer ranges, the
// time of the work launched in them; with a given number of steps, the window.
//
// FLOPs per step are given by the user, for the whole job, or follow from parameters and tokens by
// the 6ND rule (PaLM, appendix B, without its attention term). Whatever cannot be known stays
// unknown, with a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/steps/nvtx_steps.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct MfuOptions {
  std::optional<double> flops_per_step = std::nullopt;   // of the whole job
  std::optional<double> params = std::nullopt;           // of the model
  std::optional<double> tokens_per_step = std::nullopt;  // of the whole job
  std::optional<std::int64_t> steps = std::nullopt;      // in the window; empty: those found
  PeakDtype peak_dtype = PeakDtype::kBf16;
  std::optional<double> peak_tflops = std::nullopt;  // of each GPU; empty: the published rate

  bool requested() const { return flops_per_step || params || tokens_per_step; }
};

struct Mfu {
  std::optional<double> percent;
  std::string reason;  // why there is none
  std::string convention;
  std::optional<double> flops_per_step = std::nullopt;
  std::optional<std::int64_t> steps = std::nullopt;
  std::string steps_source;
  TimeNs window_ns = 0;  // the time that is divided by
  int devices = 0;       // GPUs of the job
  std::optional<double> peak_tflops_per_device;
  std::string peak_source;
  std::optional<double> achieved_tflops_per_device;
  // Of what the GPUs could do at the clocks that they had while busy; those clocks, and those of
  // the published rates, as means over the GPUs. Empty: not known of all.
  std::optional<double> percent_at_clock, busy_sm_clock_mhz, rated_sm_clock_mhz;
};

// A device with work in the window. Two processes on one card are two of these; the card counts
// once.
struct MfuDevice {
  const Rank* rank = nullptr;
  const Device* device = nullptr;
  Interval window{};             // its part of the window
  const Steps* steps = nullptr;  // in it; where their number is given, none are needed
  std::optional<double> busy_sm_clock_mhz = std::nullopt;
};

// `gpu_span`: all GPU work of the run; `window`: the part reported on. Times are taken on each host
// by its own clock, and the longest counts: clocks of several hosts may be far apart. The pattern
// says which ranges are steps. O(NVTX ranges + operations).
Mfu ComputeMfu(const Run& run, const std::vector<MfuDevice>& devices, Interval gpu_span,
               Interval window, const MfuOptions& options, const StepPattern* pattern = nullptr);

}  // namespace traceinject
