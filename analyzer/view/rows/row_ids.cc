// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_ids.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

// A restarted job has other processes and the same ranks.
std::string ProcessId(const Rank& rank) {
  if (rank.rank) return fmt::format("rank {}", *rank.rank);
  return fmt::format("process {} on {}", rank.process.pid, Printable(rank.process.host));
}

// What a row of a device or a thread holds; files know rows by these names.
std::string_view Content(RowKind kind) {
  switch (kind) {
    case RowKind::kSteps:
      return "steps";
    case RowKind::kIdle:
      return "idle";
    case RowKind::kQueueDepth:
      return "queue depth";
    case RowKind::kSampleHeading:
      return "samples";
    case RowKind::kNvtx:
      return "NVTX";
    case RowKind::kCode:
      return "Python";
    case RowKind::kFrames:
      return "frames";
    case RowKind::kOperators:
      return "operators";
    case RowKind::kCollectives:
      return "NCCL calls";
    case RowKind::kDataWaits:
      return "data wait";
    case RowKind::kHostSpans:
      return "pauses";
    case RowKind::kCalls:
      return "CUDA calls";
    case RowKind::kQuiet:
      return "without events";
    case RowKind::kRank:
    case RowKind::kDevice:
    case RowKind::kStream:
    case RowKind::kHost:
    case RowKind::kSamples:
      break;
  }
  return "";
}

std::string RowId(const Rank& rank, const Row& row) {
  const std::string process = ProcessId(rank);
  if (row.kind == RowKind::kRank) return process;
  if (row.kind == RowKind::kHost) return process + "/host";
  if (row.kind == RowKind::kQuiet && row.device == kNone)
    return fmt::format("{}/host/{}", process, Content(row.kind));
  if (row.thread != kNone) {
    return fmt::format("{}/thread {}/{}", process, rank.threads[row.thread].tid, Content(row.kind));
  }
  if (row.kind == RowKind::kSamples && row.device == kNone) return process + "/host/" + row.label;
  const std::string device = fmt::format("{}/GPU {}", process, rank.devices[row.device].ordinal);
  if (row.kind == RowKind::kDevice) return device;
  if (row.kind == RowKind::kSamples) return device + "/" + row.label;
  if (row.kind != RowKind::kStream) return fmt::format("{}/{}", device, Content(row.kind));
  const Stream& stream = rank.streams[row.stream];
  return fmt::format("{}/stream {} of context {}", device, stream.stream_id, stream.context);
}

}  // namespace

void SetRowIds(const Run& run, std::vector<Row>& rows) {
  std::map<std::string, int> count;
  for (Row& row : rows) {
    row.id = RowId(run.ranks[row.rank], row);
    // Several processes may say that they are the same rank.
    if (const int number = ++count[row.id]; number > 1) row.id += fmt::format(" ({})", number);
  }
}

}  // namespace traceinject
