// SPDX-License-Identifier: Apache-2.0
// All labels that a verdict may have (Verdict.label in report.proto tells what they mean).
#pragma once

#include <string_view>

namespace traceinject {

inline constexpr std::string_view kVerdictLabels[] = {
    // data
    "dataloader", "h2d_copy",
    // communication
    "comm_exposed", "slow_link",
    // what ranks do to each other
    "straggler", "imbalance", "pipeline_bubble",
    // host
    "launch_bound", "sync_bound", "allocator", "checkpoint", "gc_pause",
    // kernels
    "low_precision_unused", "inefficient_gemm", "unfused_attention", "memory_bound", "throttled",
    // healthy, and not known
    "compute_bound", "inconclusive"};

}  // namespace traceinject
