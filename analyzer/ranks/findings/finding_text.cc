// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/findings/finding_text.h"

#include <fmt/format.h>

#include <cmath>

#include "analyzer/common/units.h"

namespace traceinject {

std::string MeanTime(double ns) { return FormatTime(std::llround(ns)); }
std::string ShareText(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "unknown";
}

void SetSaving(const JobSaving& saving, proto::RankFinding& to) {
  to.set_saved_ns(std::llround(saving.ns));
  to.set_saved_low_ns(std::llround(saving.low_ns));
  to.set_saved_high_ns(std::llround(saving.high_ns));
}

void AddRows(const std::vector<std::size_t>& rows, proto::RankFinding& to) {
  for (const std::size_t row : rows) to.add_rows(static_cast<int>(row));
}

std::string PlaceText(const RankSummary& summary) {
  const std::string host = summary.host.empty() ? "unknown host" : summary.host;
  return summary.tells_operations() ? host : fmt::format("{}, GPU {}", host, summary.device);
}

void AddHostLevers(IdleCause cause, proto::RankFinding& to) {
  switch (cause) {
    case IdleCause::kDataWait:
      to.add_levers(
          "this rank's data loading: more DataLoader workers, its storage, its shard size");
      break;
    case IdleCause::kGc:
      to.add_levers(
          "collect garbage on all ranks in the same steps (gc.disable(), gc.collect() every N)");
      break;
    case IdleCause::kCheckpoint:
      to.add_levers(
          "save from all ranks at once or asynchronously "
          "(torch.distributed.checkpoint.async_save)");
      break;
    case IdleCause::kAllocator:
      to.add_levers(
          "this rank's memory: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, lower peaks");
      break;
    default:
      to.add_levers(
          "this rank's CPU: other processes on its cores, binding (numactl --cpunodebind), "
          "frequency governor");
      break;
  }
}

void AddGpuLevers(proto::RankFinding& to) {
  to.add_levers(
      "the GPU: power and thermal limits, clocks (nvidia-smi -q -d PERFORMANCE), other processes "
      "on it");
}

}  // namespace traceinject
