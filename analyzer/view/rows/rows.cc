// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/queue_depth.h"
#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/model/kernel_class.h"
#include "analyzer/view/rows/row_ids.h"
#include "analyzer/view/run/device_findings.h"
#include "analyzer/view/run/sample_series.h"
#include "analyzer/view/run/stack_lanes.h"
#include "analyzer/view/style/palette.h"

namespace traceinject {
namespace {

// Where time ends for events whose end was not seen: the end of the recording, or the last time
// seen.
TimeNs LastTime(const Rank& rank) {
  TimeNs last = std::max(rank.start, rank.end);
  const auto consider = [&last](const TimeColumn& start, const TimeColumn& end) {
    for (std::size_t i = 0; i < start.size(); ++i) {
      last = std::max(last, end[i] == kOpen ? start[i] : end[i]);
    }
  };
  for (const Device& device : rank.devices) consider(device.ops.start, device.ops.end);
  consider(rank.api.start, rank.api.end);
  consider(rank.nvtx.start, rank.nvtx.end);
  consider(rank.profiled.start, rank.profiled.end);
  consider(rank.collectives.start, rank.collectives.end);
  consider(rank.data_waits.start, rank.data_waits.end);
  consider(rank.host_spans.start, rank.host_spans.end);
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    last = std::max(last, samples.time[i] + samples.span[i]);
  }
  return last;
}

TimeNs FirstTime(const Rank& rank) {
  TimeNs first = std::numeric_limits<TimeNs>::max();
  const auto consider = [&first](const auto& start) {
    if (!start.empty()) first = std::min(first, start.front());
  };
  for (const Device& device : rank.devices) consider(device.ops.start);
  consider(rank.api.start);
  consider(rank.nvtx.start);
  consider(rank.profiled.start);
  consider(rank.collectives.start);
  consider(rank.data_waits.start);
  consider(rank.host_spans.start);
  consider(rank.stack_samples.time);
  return first == std::numeric_limits<TimeNs>::max() ? rank.start : first;
}

TimeNs Origin(const Run& run, TimeNs without_gpu_work) {
  TimeNs origin = std::numeric_limits<TimeNs>::max();
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices) {
      if (device.ops.size() > 0) origin = std::min(origin, device.ops.start.front());
    }
  }
  return origin == std::numeric_limits<TimeNs>::max() ? without_gpu_work : origin;
}

class RankRows {
 public:
  RankRows(const Run& run, std::uint32_t index, std::vector<Row>& rows)
      : rank_(run.ranks[index]), index_(index), last_(LastTime(rank_)), rows_(rows) {}

  void Build() {
    AddHeading();
    std::vector<std::optional<DeviceFindings>> found;
    for (const Device& device : rank_.devices) found.push_back(ExamineDevice(rank_, device));
    for (std::uint32_t device = 0; device < found.size(); ++device) {
      if (found[device]) AddSteps(device, found[device]->steps);
    }
    for (std::uint32_t device = 0; device < rank_.devices.size(); ++device) {
      if (rank_.devices[device].ops.size() > 0) AddDevice(device, std::move(found[device]));
    }
    AddThreads();
  }

 private:
  TimeNs End(TimeNs start, TimeNs end) const {
    return end == kOpen ? std::max(start, last_) : std::max(start, end);
  }

  Row& AddRow(RowKind kind, std::string_view label, std::string_view note) {
    Row& row = rows_.emplace_back();
    row.kind = kind;
    row.parent = group_;
    row.rank = index_;
    row.label = Printable(label);
    row.note = Printable(note);
    return row;
  }

  void AddHeading() {
    const ProcessFacts& process = rank_.process;
    std::string label =
        rank_.rank ? fmt::format("rank {}", *rank_.rank) : fmt::format("process {}", process.pid);
    if (!process.host.empty()) label += " on " + process.host;
    std::string note = fmt::format("pid {}", process.pid);
    if (!process.command_line.empty()) note += "   " + process.command_line;
    if (!rank_.closed) note += "   (did not end cleanly: the end may be missing)";
    AddRow(RowKind::kRank, label, note);
    heading_ = group_ = LastRow();
  }

  std::uint32_t LastRow() const { return static_cast<std::uint32_t>(rows_.size()) - 1; }

  bool HasManyDevices() const {
    return std::count_if(rank_.devices.begin(), rank_.devices.end(),
                         [](const Device& device) { return device.ops.size() > 0; }) > 1;
  }

  void AddSteps(std::uint32_t device, const Steps& steps) {
    if (steps.source == StepSource::kWindow) return;
    const int ordinal = rank_.devices[device].ordinal;
    Row& row = AddRow(RowKind::kSteps,
                      HasManyDevices() ? fmt::format("steps of GPU {}", ordinal) : "steps",
                      fmt::format("by {}", StepSourceName(steps.source)));
    row.device = device;
    row.lanes.emplace_back(StepEvents(steps));
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
      row.names.push_back(fmt::format("step {}", steps.number(i)));
    }
  }

  void AddDevice(std::uint32_t index, std::optional<DeviceFindings> found) {
    const GpuOps& ops = rank_.devices[index].ops;
    group_ = heading_;
    Row& summary = AddRow(RowKind::kDevice, fmt::format("GPU {}", rank_.devices[index].ordinal),
                          rank_.devices[index].name);
    summary.device = index;
    summary.lanes.emplace_back(FlattenByCategory(AllOps(ops)));
    group_ = LastRow();
    if (found) AddAnalysis(index, std::move(found->idle));
    AddStreams(index, ops);
    const Device& device = rank_.devices[index];
    AddSamples(HardwareCounterSeries(device, CounterChoice::kMain), index);
    std::vector<SampleSeries> sampled = DeviceSeries(rank_, device);
    for (SampleSeries& other : HardwareCounterSeries(device, CounterChoice::kOthers))
      sampled.push_back(std::move(other));
    AddDeviceSamples(std::move(sampled), index);
  }

  template <typename Events>
  void AddOp(const GpuOps& ops, std::uint32_t op, Events& events) const {
    const TimeNs start = ops.start[op];
    events.Add(start, End(start, ops.end[op]), op, InkOf(ops.kernel_class[op]));
  }

  LaneEvents AllOps(const GpuOps& ops) const {
    LaneEvents all;
    for (std::uint32_t op = 0; op < ops.size(); ++op) AddOp(ops, op, all);
    return all;
  }

  void AddStreams(std::uint32_t device, const GpuOps& ops) {
    // By what is told of a stream, not by when it was first used: ranks then look alike.
    const auto before = [this](std::uint32_t a, std::uint32_t b) {
      const Stream &left = rank_.streams[a], &right = rank_.streams[b];
      return std::tie(left.context, left.stream_id, a) <
             std::tie(right.context, right.stream_id, b);
    };
    std::map<std::uint32_t, LanePacker, decltype(before)> streams(before);
    for (std::uint32_t op = 0; op < ops.size(); ++op) AddOp(ops, op, streams[ops.stream[op]]);
    const bool many_contexts = rank_.streams[streams.begin()->first].context !=
                               rank_.streams[streams.rbegin()->first].context;
    for (auto& [stream, events] : streams) {
      AddStream(device, stream, many_contexts, events.Take());
    }
    AddQuiet("streams", device);
  }

  // After the rows that it may stand for: in the place of a single one it would be of no use.
  void AddQuiet(std::string_view what, std::uint32_t device) {
    const auto can_be_quiet = [this](const Row& row) {
      return row.parent == group_ && (row.kind == RowKind::kStream || row.thread != kNone);
    };
    if (std::count_if(rows_.begin() + group_, rows_.end(), can_be_quiet) < 2) return;
    AddRow(RowKind::kQuiet, fmt::format("{} without events", what), "click to show or fold")
        .device = device;
  }

  void AddAnalysis(std::uint32_t device, LaneEvents idle) {
    if (idle.size() > 0) {
      Row& row = AddRow(RowKind::kIdle, "idle", "by cause");
      row.device = device;
      row.lanes.emplace_back(std::move(idle));
    }
    CounterSeries depth = QueueDepth(rank_, rank_.devices[device]);
    if (depth.size() == 0) return;
    Row& row = AddRow(RowKind::kQueueDepth, "queue depth", "");
    row.note = fmt::format("0 to {}", depth.Range(depth.start(), depth.end()).most);
    row.device = device;
    row.counter.emplace(std::move(depth));
  }

  void AddDeviceSamples(std::vector<SampleSeries> all, std::uint32_t device) {
    if (all.empty()) return;
    std::string ranges;
    for (const SampleSeries& one : all) {
      ranges += fmt::format("{}{} {}", ranges.empty() ? "" : ", ", one.label, one.note);
    }
    AddRow(RowKind::kSampleHeading, "samples", ranges).device = device;
    group_ = LastRow();
    AddSamples(std::move(all), device);
  }

  // `device` kNone: of the host.
  void AddSamples(std::vector<SampleSeries> all, std::uint32_t device) {
    for (SampleSeries& one : all) {
      Row& row = AddRow(RowKind::kSamples, one.label, one.note);
      row.device = device;
      row.counter.emplace(std::move(one.series));
    }
  }

  void AddStream(std::uint32_t device, std::uint32_t stream, bool name_context, PackedLanes lanes) {
    const Stream& facts = rank_.streams[stream];
    const std::string_view name = rank_.string(facts.name);
    std::string note = name_context ? fmt::format("context {}", facts.context) : "";
    // 0 is the priority of streams for which none was asked.
    if (facts.priority.value_or(0) != 0)
      note += fmt::format("{}priority {}", note.empty() ? "" : ", ", *facts.priority);
    Row& row = AddRow(RowKind::kStream,
                      name.empty() ? fmt::format("stream {}", facts.stream_id)
                                   : fmt::format("stream {}: {}", facts.stream_id, name),
                      note);
    row.device = device;
    row.stream = stream;
    SetLanes(row, std::move(lanes));
  }

  struct ThreadEvents {
    StackLanes stacks;
    LanePacker nvtx, operators, collectives, data_waits, host_spans, calls;
  };

  void AddThreads() {
    std::map<std::uint32_t, ThreadEvents> threads;
    const NvtxRanges& nvtx = rank_.nvtx;
    for (std::uint32_t i = 0; i < nvtx.size(); ++i) {
      threads[nvtx.thread[i]].nvtx.Add(nvtx.start[i], End(nvtx.start[i], nvtx.end[i]), i,
                                       NvtxInk(rank_.string(nvtx.text[i])));
    }
    const ProfiledRanges& profiled = rank_.profiled;
    for (std::uint32_t i = 0; i < profiled.size(); ++i) {
      // Functions of Python are shown by their stacks.
      if (profiled.kind[i] != ProfiledKind::kOperator) continue;
      threads[profiled.thread[i]].operators.Add(profiled.start[i], profiled.end[i], i,
                                                NvtxInk(rank_.string(profiled.name[i])));
    }
    const Collectives& collectives = rank_.collectives;
    for (std::uint32_t i = 0; i < collectives.size(); ++i) {
      threads[collectives.thread[i]].collectives.Add(
          collectives.start[i], End(collectives.start[i], collectives.end[i]), i, Ink::kCollective);
    }
    const ApiCalls& calls = rank_.api;
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      threads[calls.thread[i]].calls.Add(calls.start[i], End(calls.start[i], calls.end[i]), i,
                                         InkOf(rank_.api_names[calls.name[i]].api_class));
    }
    const DataWaits& waits = rank_.data_waits;
    for (std::uint32_t i = 0; i < waits.size(); ++i) {
      threads[waits.thread[i]].data_waits.Add(waits.start[i], End(waits.start[i], waits.end[i]), i,
                                              Ink::kDataWait);
    }
    const HostSpans& spans = rank_.host_spans;
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
      threads[spans.thread[i]].host_spans.Add(spans.start[i], End(spans.start[i], spans.end[i]), i,
                                              InkOf(spans.kind[i]));
    }
    std::vector<StackLanes> stacks = StackLanesOf(rank_);
    for (std::uint32_t thread = 0; thread < stacks.size(); ++thread) {
      if (stacks[thread].lines.size() > 0) threads[thread].stacks = std::move(stacks[thread]);
    }
    if (threads.empty()) return;
    group_ = heading_;
    AddRow(RowKind::kHost, "host",
           fmt::format("{} thread{}", threads.size(), threads.size() == 1 ? "" : "s"));
    group_ = LastRow();
    for (auto& [thread, events] : threads) {
      AddThreadRow(RowKind::kNvtx, "NVTX", thread, events.nvtx.Take());
      AddThreadRow(RowKind::kOperators, "operators", thread, events.operators.Take());
      AddStackRows(thread, std::move(events.stacks));
      AddThreadRow(RowKind::kDataWaits, "data wait", thread, events.data_waits.Take());
      AddThreadRow(RowKind::kHostSpans, "pauses", thread, events.host_spans.Take());
      AddThreadRow(RowKind::kCollectives, "NCCL calls", thread, events.collectives.Take());
      AddThreadRow(RowKind::kCalls, "CUDA calls", thread, events.calls.Take());
    }
    AddQuiet("threads", kNone);
    AddSamples(HostSeries(rank_), kNone);
  }

  Row& AddRowOfThread(RowKind kind, const char* what, std::uint32_t thread, std::string_view note) {
    Row& row = AddRow(kind, fmt::format("thread {}: {}", rank_.threads[thread].tid, what), note);
    row.thread = thread;
    return row;
  }

  void AddThreadRow(RowKind kind, const char* what, std::uint32_t thread, PackedLanes lanes) {
    if (lanes.lanes.empty()) return;
    SetLanes(AddRowOfThread(kind, what, thread, rank_.threads[thread].name), std::move(lanes));
  }

  void AddStackRows(std::uint32_t thread, StackLanes stacks) {
    if (stacks.lines.size() == 0) return;
    const bool is_native = rank_.places[stacks.lines.source(0)].is_native;
    AddRowOfThread(RowKind::kCode, is_native ? "functions" : "Python", thread,
                   rank_.threads[thread].name)
        .lanes.emplace_back(std::move(stacks.lines));
    const std::uint32_t host = std::exchange(group_, LastRow());
    const std::string note =
        stacks.deepest > stacks.frames.size()
            ? fmt::format("{} of {}", stacks.frames.size(), stacks.deepest)
            : fmt::format("{} level{}", stacks.deepest, stacks.deepest == 1 ? "" : "s");
    Row& frames = AddRowOfThread(RowKind::kFrames, "frames", thread, note);
    for (LaneEvents& lane : stacks.frames) frames.lanes.emplace_back(std::move(lane));
    group_ = host;
  }

  const Rank& rank_;
  std::uint32_t index_;
  TimeNs last_;
  std::vector<Row>& rows_;
  std::uint32_t heading_ = kNone, group_ = kNone;  // parent of the rows added next
};

std::vector<KernelClass> OccurringClasses(const Run& run) {
  std::array<bool, static_cast<std::size_t>(Ink::kCallLaunch)> occurs = {};
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices) {
      for (const KernelClass kernel_class : device.ops.kernel_class) {
        occurs[static_cast<std::size_t>(kernel_class)] = true;
      }
    }
  }
  std::vector<KernelClass> classes;
  for (const KernelClass kernel_class : AllKernelClasses()) {
    if (occurs[static_cast<std::size_t>(kernel_class)]) classes.push_back(kernel_class);
  }
  return classes;
}

// Of every kernel, so it tells nothing.
constexpr std::string_view kReturnType = "void ";

std::vector<std::string> KernelLabels(const Rank& rank) {
  std::vector<std::string> labels;
  labels.reserve(rank.shapes.size());
  for (const KernelShape& shape : rank.shapes) {
    std::string label = StripKernelName(rank.string(shape.name));
    if (label.starts_with(kReturnType)) label.erase(0, kReturnType.size());
    labels.push_back(std::move(label));
  }
  return labels;
}

// By what ranks can be sorted.
void NoteLateness(RowModel& model) {
  for (Row& row : model.rows) {
    const TimeNs held_up = row.kind == RowKind::kRank ? model.waits.HeldUp(row.rank) : 0;
    if (held_up > 0)
      row.note =
          fmt::format("delayed the others by {} in total   {}", FormatTime(held_up), row.note);
  }
}

void AddGaps(const Rank& rank, std::uint32_t index, TimeNs last, std::vector<RowGap>& gaps) {
  for (const CaptureGap& gap : rank.gaps) {
    gaps.push_back(
        {index, gap.start, gap.end == kOpen ? last : gap.end,
         gap.stalled() ? "stalled: nothing completed on the GPU" : "not recorded: " + gap.reason});
  }
  if (rank.read_until != kOpen)
    gaps.push_back({index, rank.read_until, last, "still being read", true});
}

void AddRank(const Run& run, std::uint32_t index, RowModel& model) {
  const Rank& rank = run.ranks[index];
  RankRows(run, index, model.rows).Build();
  model.kernel_labels[index] = KernelLabels(rank);
  model.kernel_hues[index] = NameHues(model.kernel_labels[index]);
  model.place_labels[index] = PlaceLabels(rank);
  model.looks[index] = CountLooksOfThreads(rank);
  const TimeNs last = LastTime(rank);
  model.start = std::min(model.start, FirstTime(rank));
  model.end = std::max(model.end, last);
  AddGaps(rank, index, last, model.gaps);
}

RowModel BuildRowsOfRanks(const Run& run, std::span<const std::uint32_t> ranks) {
  RowModel model;
  if (ranks.empty()) return model;
  model.start = std::numeric_limits<TimeNs>::max();
  model.end = std::numeric_limits<TimeNs>::min();
  model.kernel_labels.resize(run.ranks.size());
  model.kernel_hues.resize(run.ranks.size());
  model.place_labels.resize(run.ranks.size());
  model.looks.resize(run.ranks.size());
  for (const std::uint32_t index : ranks) AddRank(run, index, model);
  SetRowIds(run, model.rows);
  model.waits = CommWaits(run);
  NoteLateness(model);
  model.origin = Origin(run, model.start);
  model.kernel_classes = OccurringClasses(run);
  return model;
}

}  // namespace

std::vector<std::uint8_t> NameHues(const std::vector<std::string>& names) {
  std::vector<std::uint8_t> hues;
  hues.reserve(names.size());
  for (const std::string& name : names) {
    hues.push_back(static_cast<std::uint8_t>(TextHash(name) % kHues));
  }
  return hues;
}

std::vector<std::string> PlaceLabels(const Rank& rank) {
  std::vector<std::string> labels;
  labels.reserve(rank.places.size());
  for (std::uint32_t place = 0; place < rank.places.size(); ++place) {
    labels.push_back(Printable(PlaceText(rank, place)));
  }
  return labels;
}

void SetLanes(Row& row, PackedLanes packed) {
  row.beside_first = Lane(BesideFirst(packed));
  row.hidden = packed.hidden;
  for (LaneEvents& lane : packed.lanes) row.lanes.emplace_back(std::move(lane));
}

double Row::BusyShare(TimeNs start_ns, TimeNs end_ns) const {
  if (lanes.empty() || end_ns <= start_ns) return 0;
  const TimeNs busy = lanes.front().Busy(start_ns, end_ns) + beside_first.Busy(start_ns, end_ns);
  return static_cast<double>(busy) / static_cast<double>(end_ns - start_ns);
}

std::size_t Row::Count(TimeNs start_ns, TimeNs end_ns) const {
  std::size_t count = 0;
  for (const Lane& lane : lanes) count += lane.Count(start_ns, end_ns);
  return count;
}

bool Row::HasEvents(TimeNs start_ns, TimeNs end_ns) const {
  return std::any_of(lanes.begin(), lanes.end(), [&](const Lane& lane) {
    const std::size_t event = lane.FirstEndingAfter(start_ns);
    return event < lane.size() && lane.start(event) < end_ns;
  });
}

RowModel BuildRows(const Run& run) {
  std::vector<std::uint32_t> ranks(run.ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  return BuildRowsOfRanks(run, ranks);
}

RowModel BuildRowsOfRank(const Run& run, std::uint32_t rank) {
  return BuildRowsOfRanks(run, {&rank, 1});
}

}  // namespace traceinject
