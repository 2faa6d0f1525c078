// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/perfetto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/common/printable.h"
#include "analyzer/export/device_counters.h"
#include "analyzer/export/event_arguments.h"
#include "analyzer/export/event_category.h"
#include "analyzer/export/event_names.h"
#include "analyzer/export/found_steps.h"
#include "analyzer/export/host_events.h"
#include "analyzer/export/launch_flows.h"
#include "analyzer/export/nested_tracks.h"
#include "analyzer/export/perfetto_sequence.h"
#include "analyzer/export/stack_slices.h"
#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/metrics/places/code_rows.h"

namespace traceinject {
namespace {

constexpr std::uint32_t kRealtime = 1, kBoottime = 6;
// Ids that are not known, or that two processes have, are replaced by numbers from here on.
constexpr std::int32_t kFirstMadeUpId = 1'000'000'000;

bool IsId(std::int64_t id) { return id > 0 && id < kFirstMadeUpId; }

// Process ids by rank: no two are alike, since Perfetto takes processes of one id for one.
std::vector<std::int32_t> ProcessIds(const Run& run) {
  std::vector<std::int32_t> ids;
  std::set<std::int64_t> taken;
  for (const Rank& rank : run.ranks) {
    const std::int64_t pid = rank.process.pid;
    const bool own = IsId(pid) && taken.insert(pid).second;
    ids.push_back(own ? static_cast<std::int32_t>(pid)
                      : kFirstMadeUpId + static_cast<std::int32_t>(ids.size()));
  }
  return ids;
}

class RankWriter {
 public:
  RankWriter(const Run& run, std::size_t index, std::int32_t pid, std::uint64_t& next_uuid,
             OutputFile& file)
      : run_(run),
        rank_(run.ranks[index]),
        flow_base_(static_cast<std::uint64_t>(index) << 40),
        pid_(pid),
        next_uuid_(next_uuid),
        sequence_(static_cast<std::uint32_t>(index + 1), file),
        names_(rank_),
        flows_(rank_) {}

  ExportCounts Write() {
    SendClocks();
    process_uuid_ = SendProcess();
    WriteGaps();
    WriteSteps();
    // Arrows begin before they end.
    WriteThreads();
    WriteStacks();
    for (std::size_t device = 0; device < rank_.devices.size(); ++device) WriteDevice(device);
    return counts_;
  }

 private:
  // Tracks of one name, on which slices nest.
  struct Group {
    explicit Group(bool may_nest) : nested(may_nest) {}
    NestedTracks nested;
    std::vector<std::uint64_t> uuids;
  };

  std::uint64_t Unix_ns(TimeNs time) const {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(run_.base_ns, time, &sum))
      sum = time > 0 ? std::numeric_limits<std::int64_t>::max() : 0;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0));
  }

  void SendClocks() {
    auto& snapshot = *sequence_.Begin().mutable_clock_snapshot();
    for (const std::uint32_t id : {kRealtime, kBoottime}) {
      auto& clock = *snapshot.add_clocks();
      clock.set_clock_id(id);
      clock.set_timestamp(Unix_ns(0));
    }
    sequence_.Send();
  }

  // Fills a descriptor and sends it; returns the new track.
  template <typename Fill>
  std::uint64_t SendTrack(Fill fill) {
    perfetto::TrackDescriptor& track = *sequence_.Begin().mutable_track_descriptor();
    track.set_uuid(next_uuid_);
    fill(track);
    sequence_.Send();
    return next_uuid_++;
  }
  std::uint64_t SendChild(std::uint64_t parent, const std::string& name, int order) {
    return SendTrack([&](perfetto::TrackDescriptor& track) {
      track.set_name(name);
      track.set_parent_uuid(parent);
      track.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
      track.set_sibling_order_rank(order);
    });
  }

  std::uint64_t SendProcess() {
    return SendTrack([&](perfetto::TrackDescriptor& track) {
      perfetto::ProcessDescriptor& process = *track.mutable_process();
      process.set_pid(pid_);
      std::string name = ProcessLabel(run_, rank_);
      if (!rank_.process.host.empty()) name += " on " + rank_.process.host;
      process.set_process_name(Printable(name));
      if (!rank_.process.command_line.empty())
        process.add_cmdline(Printable(rank_.process.command_line));
      track.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
    });
  }

  std::uint64_t SendThread(std::uint32_t thread) {
    const Thread& facts = rank_.threads[thread];
    const bool own = IsId(facts.tid) && thread_ids_.insert(facts.tid).second;
    return SendTrack([&](perfetto::TrackDescriptor& track) {
      perfetto::ThreadDescriptor& to = *track.mutable_thread();
      to.set_pid(pid_);
      to.set_tid(own ? static_cast<std::int32_t>(facts.tid)
                     : kFirstMadeUpId + static_cast<std::int32_t>(thread));
      to.set_thread_name(Printable(facts.name));
    });
  }

  perfetto::TrackEvent& BeginEvent(TimeNs time, std::uint64_t track,
                                   perfetto::TrackEvent::Type type) {
    perfetto::TrackEvent& event = *sequence_.Begin(Unix_ns(time)).mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(track);
    return event;
  }

  void SendEnd(std::uint64_t track, TimeNs time) {
    BeginEvent(time, track, perfetto::TrackEvent::TYPE_SLICE_END);
    sequence_.Send();
  }

  // The track of a slice or mark within the group; 0: there is no room. `add` makes a track.
  template <typename Add>
  std::uint64_t Place(Group& group, bool is_mark, TimeNs start, TimeNs end, Add add) {
    const auto end_slice = [&](std::size_t of, TimeNs time) { SendEnd(group.uuids[of], time); };
    const auto track = is_mark ? std::optional(group.nested.PlaceMark(start, end_slice))
                               : group.nested.Place(start, end, end_slice);
    if (!track) {
      ++counts_.left_out;
      return 0;
    }
    if (*track == group.uuids.size()) group.uuids.push_back(add());
    return group.uuids[*track];
  }
  void Finish(Group& group) {
    group.nested.Finish([&](std::size_t track, TimeNs time) { SendEnd(group.uuids[track], time); });
  }

  // What looks idle there may not have been.
  void WriteGaps() {
    Group group(true);
    for (const CaptureGap& gap : rank_.gaps) {
      const TimeNs end = std::max(gap.start, std::min(gap.end, rank_.end));
      const std::uint64_t track = Place(group, false, gap.start, end, [&] {
        return SendChild(process_uuid_, "not recorded", std::numeric_limits<int>::min());
      });
      if (track == 0) continue;
      BeginEvent(gap.start, track, perfetto::TrackEvent::TYPE_SLICE_BEGIN);
      const std::uint32_t name = names_.OfGap(gap);
      sequence_.SetName(name, names_.text(name));
      sequence_.AddCategory("capture_gap");
      sequence_.Send();
      ++counts_.events;
    }
    Finish(group);
  }

  // On the GPU, as the report has them: the host may be ahead by more than one.
  void WriteSteps() {
    const std::vector<FoundSteps> devices = FindStepsOfDevices(rank_);
    for (const FoundSteps& found : devices) {
      const Steps& steps = found.steps;
      const std::string name =
          devices.size() == 1 ? "Steps" : fmt::format("Steps of GPU {}", found.ordinal);
      const std::uint64_t track =
          SendChild(process_uuid_, name, std::numeric_limits<int>::min() + 1);
      for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        const Step& step = steps.steps[i];
        BeginEvent(step.time.start, track, perfetto::TrackEvent::TYPE_SLICE_BEGIN);
        const std::uint32_t text = names_.OfStep(steps.number(i));
        sequence_.SetName(text, names_.text(text));
        sequence_.AddCategory("step");
        sequence_.AddArguments(StepArguments(steps, step));
        sequence_.Send();
        SendEnd(track, step.time.end);
        ++counts_.events;
      }
    }
  }

  void WriteThreads() {
    std::map<std::uint32_t, Group> threads;
    HostArguments arguments(rank_);
    HostEvents events(rank_);
    for (HostEvent event; events.Next(event);) {
      Group& group = threads.try_emplace(event.thread, true).first->second;
      const auto add = [&] {
        // What does not nest with the rest stands below it.
        return group.uuids.empty()
                   ? SendThread(event.thread)
                   : SendChild(group.uuids.front(), "beside", static_cast<int>(group.uuids.size()));
      };
      const std::uint64_t track = Place(group, event.instant, event.start, event.end, add);
      if (track == 0) continue;
      perfetto::TrackEvent& to = BeginEvent(event.start, track,
                                            event.instant ? perfetto::TrackEvent::TYPE_INSTANT
                                                          : perfetto::TrackEvent::TYPE_SLICE_BEGIN);
      if (event.kind == HostEventKind::kApi && flows_.BeginsAt(event.row))
        to.add_flow_ids(FlowId(event.row));
      const std::uint32_t name = names_.Of(event);
      sequence_.SetName(name, names_.text(name));
      sequence_.AddCategory(CategoryOf(rank_, event).own);
      sequence_.AddArguments(arguments.Of(event));
      sequence_.Send();
      ++counts_.events;
    }
    for (auto& [thread, group] : threads) Finish(group);
  }

  // What the program's code did, as it was sampled: a track of its own for each thread.
  void WriteStacks() {
    const TimeNs period = LookPeriod(rank_);
    const std::vector<LookRuns> looks = LooksOfThreads(rank_);
    for (std::uint32_t thread = 0; thread < looks.size(); ++thread) {
      Group group(true);
      for (const StackSlice& slice : SlicesOfLooks(rank_, looks[thread], period)) {
        const std::uint64_t track = Place(group, false, slice.time.start, slice.time.end,
                                          [&] { return SendStacks(thread); });
        if (track != 0) WriteStackSlice(slice, track);
      }
      Finish(group);
    }
  }

  std::uint64_t SendStacks(std::uint32_t thread) {
    const Thread& facts = rank_.threads[thread];
    const std::string name = facts.name.empty() ? fmt::format("thread {}", facts.tid)
                                                : fmt::format("{} {}", facts.name, facts.tid);
    return SendChild(process_uuid_, Printable("Python of " + name), static_cast<int>(thread));
  }

  void WriteStackSlice(const StackSlice& slice, std::uint64_t track) {
    const CodePlace& code = rank_.places[slice.place];
    BeginEvent(slice.time.start, track, perfetto::TrackEvent::TYPE_SLICE_BEGIN);
    const std::uint32_t name = names_.OfPlace(slice.place);
    sequence_.SetName(name, names_.text(name));
    sequence_.AddCategory("python");
    sequence_.AddArguments(
        {Argument::Text("file", rank_.string(code.file)), Argument::Count("line", code.line)});
    sequence_.Send();
    ++counts_.events;
  }

  std::uint64_t FlowId(std::uint32_t call) const { return flow_base_ + call + 1; }

  void WriteDevice(std::size_t index) {
    const Device& device = rank_.devices[index];
    const std::string name = device.name.empty() ? "" : fmt::format(" ({})", device.name);
    const std::uint64_t parent =
        SendChild(process_uuid_, Printable(fmt::format("GPU {}{}", device.ordinal, name)),
                  device.ordinal - static_cast<int>(rank_.devices.size()));
    WriteOperations(index, parent);
    for (const DeviceCounter& counter : DeviceCounters()) WriteCounter(device, counter, parent);
  }

  std::string StreamLabel(std::uint32_t index) const {
    const Stream& stream = rank_.streams[index];
    const bool one_context =
        std::all_of(rank_.streams.begin(), rank_.streams.end(), [&](const Stream& other) {
          return other.device != stream.device || other.context == stream.context;
        });
    std::string label = fmt::format("stream {}", stream.stream_id);
    if (!one_context) label += fmt::format(" of context {}", stream.context);
    if (stream.name != kNone) label += fmt::format(": {}", rank_.string(stream.name));
    return Printable(label);
  }

  void WriteOperations(std::size_t device_index, std::uint64_t parent) {
    const Device& device = rank_.devices[device_index];
    const GpuOps& ops = device.ops;
    std::map<std::uint32_t, Group> streams;
    GpuArguments arguments(rank_, device);
    for (std::size_t row = 0; row < ops.size(); ++row) {
      const std::uint32_t stream = ops.stream[row];
      // Operations of a stream may overlap (programmatic dependent launch); none is part of
      // another.
      Group& group = streams.try_emplace(stream, false).first->second;
      const std::uint64_t track = Place(group, false, ops.start[row], ops.end[row], [&] {
        return SendChild(parent, StreamLabel(stream), static_cast<int>(stream));
      });
      if (track == 0) continue;
      perfetto::TrackEvent& to =
          BeginEvent(ops.start[row], track, perfetto::TrackEvent::TYPE_SLICE_BEGIN);
      if (ops.launch[row] != kNone) {
        const std::uint64_t flow = FlowId(ops.launch[row]);
        flows_.EndsAt(device_index, row) ? to.add_terminating_flow_ids(flow)
                                         : to.add_flow_ids(flow);
      }
      const std::uint32_t name = names_.Of(ops, row);
      sequence_.SetName(name, names_.text(name));
      sequence_.AddCategory(CategoryOf(ops.kind[row]).own);
      sequence_.AddArguments(arguments.Of(row));
      sequence_.Send();
      ++counts_.events;
    }
    for (auto& [stream, group] : streams) Finish(group);
  }

  void WriteCounter(const Device& device, const DeviceCounter& counter, std::uint64_t parent) {
    std::uint64_t track = 0;
    for (std::size_t row = 0; row < counter.rows(device); ++row) {
      const std::int64_t value = counter.value(device, row);
      if (value < 0) continue;
      if (track == 0) track = SendCounterTrack(counter, parent);
      perfetto::TrackEvent& event =
          BeginEvent(counter.time(device, row), track, perfetto::TrackEvent::TYPE_COUNTER);
      counter.scale == 1
          ? event.set_counter_value(value)
          : event.set_double_counter_value(static_cast<double>(value) * counter.scale);
      sequence_.Send();
      ++counts_.events;
    }
  }

  std::uint64_t SendCounterTrack(const DeviceCounter& counter, std::uint64_t parent) {
    return SendTrack([&](perfetto::TrackDescriptor& track) {
      track.set_name(std::string(counter.name));
      track.set_parent_uuid(parent);
      // Below the streams.
      track.set_sibling_order_rank(std::numeric_limits<std::int32_t>::max());
      perfetto::CounterDescriptor& descriptor = *track.mutable_counter();
      if (counter.unit == "bytes") {
        descriptor.set_unit(perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
      } else {
        descriptor.set_unit_name(std::string(counter.unit));
      }
    });
  }

  const Run& run_;
  const Rank& rank_;
  std::uint64_t flow_base_;
  std::int32_t pid_;
  std::uint64_t& next_uuid_;
  PerfettoSequence sequence_;
  EventNames names_;
  LaunchFlows flows_;
  std::uint64_t process_uuid_ = 0;
  std::set<std::int64_t> thread_ids_;
  ExportCounts counts_;
};

}  // namespace

ExportCounts WritePerfettoTrace(const Run& run, OutputFile& file) {
  const std::vector<std::int32_t> pids = ProcessIds(run);
  std::uint64_t next_uuid = 1;
  ExportCounts counts;
  for (std::size_t rank = 0; rank < run.ranks.size() && !file.failed(); ++rank) {
    const ExportCounts of_rank = RankWriter(run, rank, pids[rank], next_uuid, file).Write();
    counts.events += of_rank.events;
    counts.left_out += of_rank.left_out;
  }
  return counts;
}

}  // namespace traceinject
