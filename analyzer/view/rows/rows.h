// SPDX-License-Identifier: Apache-2.0
// The rows of the timeline, made from a run once: which there are, what is in them, in which order.
//
// Per rank a heading and the training steps; per device a summary of all streams, its idle time by
// cause, the depth of its queue, a row a stream, and a heading for what was sampled of it; per host
// thread its NVTX ranges, operators of PyTorch, collectives, Python stacks, waits for data,
// checkpoints and collections of garbage, and CUDA calls; for the host its use of processors. Rows
// without events are not there. A line after the streams, and one after the rows of threads, stands
// for those in which nothing is in sight. Rows form groups by `parent`; a parent stands before its
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/counter_series.h"
#include "analyzer/model/lane.h"
#include "analyzer/model/pack_lanes.h"
#include "analyzer/view/run/comm_waits.h"
#include "analyzer/view/run/thread_looks.h"

namespace traceinject {

enum class RowKind : std::uint8_t {
  kRank,  // heading
  kSteps,
  kDevice,
  kIdle,
  kQueueDepth,
  kSampleHeading,  // of a device
  kSamples,        // a figure of the device, or of the host
  kStream,
  kHost,  // heading
  kNvtx,
  kCode,       // the line of the program's own code that a thread is at
  kFrames,     // its whole stack; in a kCode row
  kOperators,  // of another profiler's trace
  kCollectives,
  kDataWaits,
  kHostSpans,
  kCalls,
  kQuiet,  // of a device: its streams, of a host: its threads in which nothing is in sight
};

// A heading has nothing in it but its rows.
inline bool IsHeading(RowKind kind) {
  return kind == RowKind::kRank || kind == RowKind::kHost || kind == RowKind::kSampleHeading ||
         kind == RowKind::kQuiet;
}

// Whether a group is folded up until the user opens it: what is sampled takes much room and changes
// little, and the heading tells between which values; of a stack the line of the program tells
// most; and rows without events in sight tell nothing.
inline bool IsFoldedAtFirst(RowKind kind) {
  return kind == RowKind::kSampleHeading || kind == RowKind::kCode || kind == RowKind::kQuiet;
}

// What is in such a row stands for Python code.
inline bool IsOfCode(RowKind kind) { return kind == RowKind::kCode || kind == RowKind::kFrames; }

// What such a row shows was worked out of the events of others, or of looks.
inline bool IsDerived(RowKind kind) {
  return kind == RowKind::kDevice || kind == RowKind::kSteps || kind == RowKind::kIdle ||
         kind == RowKind::kQueueDepth || IsOfCode(kind);
}

struct Row {
  RowKind kind = RowKind::kRank;
  std::uint32_t parent = kNone;  // index into RowModel::rows of the group it belongs to
  std::uint32_t rank = 0;        // index into Run::ranks
  std::uint32_t device = kNone;  // index into Rank::devices; GPU rows
  std::uint32_t stream = kNone;  // index into Rank::streams; kStream
  std::uint32_t thread = kNone;  // index into Rank::threads; host rows
  std::string id;  // what it is in files: the same whenever the run is read, and of no other row
  std::string label;
  std::string note;  // what the label has no room for; may be empty
  // Of overlapping events the later ones stand in the lower lanes; of frames those that are called.
  std::vector<Lane> lanes;
  std::size_t hidden = 0;                // events that are in no lane (more than kMaxLanes at once)
  std::optional<CounterSeries> counter;  // kQueueDepth, kSamples: instead of lanes
  std::vector<std::string> names;        // kSteps: of its events, by source

  // Share of [start_ns, end_ns) in which something in the row was going on, 0..1. O(log n).
  double BusyShare(TimeNs start_ns, TimeNs end_ns) const;
  std::size_t Count(TimeNs start_ns, TimeNs end_ns) const;
  // Whether a part of an event lies in [start_ns, end_ns). O(lanes log n).
  bool HasEvents(TimeNs start_ns, TimeNs end_ns) const;

  Lane beside_first;  // times in which another lane is busy and the first is not
};

// Gives a row its lanes. O(n).
void SetLanes(Row& row, PackedLanes packed);

// An event on the timeline.
struct EventRef {
  std::uint32_t row = kNone, lane = 0, event = 0;
  bool operator==(const EventRef&) const = default;
};

// Time of which something is missing, on all rows of the rank.
struct RowGap {
  std::uint32_t rank = 0;
  TimeNs start = 0, end = 0;
  std::string text;         // what the rows say there
  bool being_read = false;  // it was recorded, and will be there soon
};

struct RowModel {
  std::vector<Row> rows;
  std::vector<RowGap> gaps;
  TimeNs start = 0, end = 0;  // what there is to see
  TimeNs origin = 0;          // start of the first GPU operation: 0 on the ruler, as in the report
  std::vector<KernelClass> kernel_classes;  // that occur, in the order of the enumeration
  // Kernel names without arguments, per rank and shape.
  std::vector<std::vector<std::string>> kernel_labels;
  // Numbers of the colors of these names: the same name has the same in every run.
  std::vector<std::vector<std::uint8_t>> kernel_hues;
  CommWaits waits;
  // "train.py:41 in load_batch", per rank and place in the code.
  std::vector<std::vector<std::string>> place_labels;
  std::vector<std::vector<ThreadLooks>> looks;  // per rank and thread

  const Lane& lane(const EventRef& ref) const { return rows[ref.row].lanes[ref.lane]; }
};

// For RowModel::kernel_hues. O(letters).
std::vector<std::uint8_t> NameHues(const std::vector<std::string>& names);

// For RowModel::place_labels. O(places).
std::vector<std::string> PlaceLabels(const Rank& rank);

// O(n log n) time. The rows keep indices into `run` and copies of its times.
RowModel BuildRows(const Run& run);

// The same with the rows of one rank alone, an index into Run::ranks. What it waited for the others
// is known all the same; nothing is named of the others.
RowModel BuildRowsOfRank(const Run& run, std::uint32_t rank);

}  // namespace traceinject
