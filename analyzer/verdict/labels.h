// SPDX-License-Identifier: Apache-2.0
// All labels of verdicts and savings: the id that files and commands use, the class it belongs to,
// and the title that people read. Verdict.label in report.proto says what they mean.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace traceinject {

struct VerdictLabel {
  std::string_view id, kind, title;
};

inline constexpr VerdictLabel kVerdictLabelTable[] = {
    {"dataloader", "data", "Data loading"},
    {"h2d_copy", "data", "Host-to-device copies"},
    {"comm_exposed", "communication", "Exposed communication"},
    {"slow_link", "communication", "Slow link"},
    {"straggler", "skew", "Straggler"},
    {"imbalance", "skew", "Load imbalance"},
    {"pipeline_bubble", "skew", "Pipeline bubble"},
    {"launch_bound", "host", "CPU-bound kernel launches"},
    {"host_code", "host", "Host code between launches"},
    {"sync_bound", "host", "Host-device synchronization"},
    {"allocator", "host", "GPU memory allocation"},
    {"checkpoint", "host", "Checkpointing"},
    {"gc_pause", "host", "Python garbage collection"},
    {"evaluation", "between", "Evaluation"},
    {"epoch_end", "between", "Ends of epochs"},
    {"low_precision_unused", "compute", "TF32/BF16 not used"},
    {"inefficient_gemm", "compute", "Inefficient GEMMs"},
    {"unfused_attention", "compute", "Unfused attention"},
    {"memory_bound", "compute", "Memory-bound kernels"},
    {"throttled", "compute", "GPU clock throttling"},
    {"compute_bound", "healthy", "Compute-bound"},
    {"inconclusive", "unknown", "Inconclusive"},
};

// A saving that is never the verdict.
inline constexpr VerdictLabel kHostWaitRow = {"host_wait", "host", "Unrecorded host activity"};

// The ids of the table, in its order.
inline constexpr auto kVerdictLabels = [] {
  std::array<std::string_view, std::size(kVerdictLabelTable)> ids;
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = kVerdictLabelTable[i].id;
  return ids;
}();

// "Data loading" of "dataloader"; an unknown label is its own title.
constexpr std::string_view TitleOf(std::string_view label) {
  for (const VerdictLabel& row : kVerdictLabelTable) {
    if (row.id == label) return row.title;
  }
  return label == kHostWaitRow.id ? kHostWaitRow.title : label;
}

}  // namespace traceinject
