// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/check_run.h"

#include <fmt/format.h>

#include "analyzer/common/printable.h"
#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/metrics/report/health.h"

namespace traceinject {
namespace {

std::string Counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", FormatCount(static_cast<std::int64_t>(count)), what,
                     count == 1 ? "" : "s");
}

std::string DescribeRank(const Run& run, const Rank& rank) {
  std::size_t operations = 0;
  for (const Device& device : rank.devices) operations += device.ops.size();
  return fmt::format("{}: {}, {}, {}, {} ({})\n", Printable(ProcessLabel(run, rank)),
                     Counted(operations, "GPU operation"), Counted(rank.api.size(), "CUDA call"),
                     Counted(rank.nvtx.size(), "NVTX range"),
                     Counted(rank.collectives.size(), "NCCL call"), Printable(rank.path));
}

JoinRate JoinsOf(const Run& run) {
  JoinRate join;
  for (const Rank& rank : run.ranks) join += CountJoins(rank);
  return join;
}

}  // namespace

CheckedRun CheckRun(const LoadedRun& loaded) {
  const Run& run = loaded.run;
  CheckedRun checked;
  for (const Rank& rank : run.ranks) checked.text += DescribeRank(run, rank);
  checked.text += fmt::format("{} on {}\n", FormatTime(loaded.rows.end - loaded.rows.start),
                              Counted(loaded.rows.rows.size(), "row"));
  const RecordingHealth health = JudgeHealth(run, JoinsOf(run));
  checked.text += fmt::format("health: {}\n", HealthGradeName(health.grade));
  for (const std::string& reason : health.reasons) {
    checked.text += fmt::format("  {}\n", Printable(reason));
  }
  for (const std::string& note : run.notes) {
    checked.text += fmt::format("note: {}\n", Printable(note));
  }
  checked.whole = health.grade <= HealthGrade::kGood && run.notes.empty();
  return checked;
}

}  // namespace traceinject
