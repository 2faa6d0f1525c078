// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/json_text.h"
#include "analyzer/export/autograd_flows.h"
#include "analyzer/export/device_counters.h"
#include "analyzer/export/event_arguments.h"
#include "analyzer/export/event_category.h"
#include "analyzer/export/event_names.h"
#include "analyzer/export/found_steps.h"
#include "analyzer/export/host_events.h"
#include "analyzer/export/launch_flows.h"
#include "analyzer/metrics/idle/process_label.h"

namespace traceinject {
namespace {

// The earliest time in the process: times of such traces are never negative.
TimeNs EarliestOf(const Rank& rank, const std::vector<FoundSteps>& steps) {
  TimeNs earliest = rank.start;
  for (const FoundSteps& of_device : steps)
    earliest = std::min(earliest, of_device.steps.steps.front().host.start);
  HostEvent event;
  if (HostEvents(rank).Next(event)) earliest = std::min(earliest, event.start);
  for (const Device& device : rank.devices) {
    if (device.ops.size() > 0) earliest = std::min(earliest, device.ops.start.front());
    for (const DeviceCounter& counter : DeviceCounters()) {
      if (counter.rows(device) > 0) earliest = std::min(earliest, counter.time(device, 0));
    }
  }
  return earliest;
}

class ChromeWriter {
 public:
  ChromeWriter(const Run& run, const Rank& rank, OutputFile& file)
      : run_(run),
        rank_(rank),
        file_(file),
        pid_(rank.process.pid),
        steps_(FindStepsOfDevices(rank)),
        earliest_(EarliestOf(rank, steps_)),
        names_(rank),
        flows_(rank),
        autograd_(rank) {}

  ExportCounts Write() {
    WriteHead();
    NameProcesses();
    WriteSpan();
    WriteSteps();
    WriteThreads();
    for (std::size_t device = 0; device < rank_.devices.size(); ++device) WriteDevice(device);
    Add("\n],\n\"traceName\": {}\n}}\n", JsonString(ProcessLabel(run_, rank_)));
    Flush();
    return counts_;
  }

 private:
  template <typename... Values>
  void Add(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(fmt::appender(buffer_), text, std::forward<Values>(values)...);
  }
  void Flush() {
    file_.Write({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

  void WriteHead() {
    Add("{{\n\"schemaVersion\": 1,\n\"deviceProperties\": [");
    for (const Device& device : rank_.devices) {
      Add("{}\n  {{\"id\": {}, \"name\": {}", &device == rank_.devices.data() ? "" : ",",
          device.ordinal, JsonString(device.name));
      AddIfKnown(", \"totalGlobalMem\": {}", device.memory_bytes);
      AddIfKnown(", \"computeMajor\": {}", device.cc_major);
      AddIfKnown(", \"computeMinor\": {}", device.cc_minor);
      AddIfKnown(", \"numSms\": {}", device.sm_count);
      Add("}}");
    }
    Add("\n],\n");
    const ProcessFacts& facts = rank_.process;
    AddIfKnown("\"cuda_driver_version\": {},\n", facts.driver_version);
    AddIfKnown("\"cuda_runtime_version\": {},\n", facts.runtime_version);
    AddIfKnown("\"cupti_version\": {},\n", facts.cupti_version);
    WriteJob();
    Add("\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n\"traceEvents\": [\n",
        run_.base_ns + earliest_);
  }

  void WriteJob() {
    if (!rank_.rank) return;
    const ProcessFacts& facts = rank_.process;
    Add("\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}", *rank_.rank);
    AddIfKnown(", \"world_size\": {}", facts.world_size);
    if (facts.nccl_version) {
      const int version = *facts.nccl_version;
      Add(", \"nccl_version\": \"{}.{}.{}\"", version / 10000, version / 100 % 100, version % 100);
    }
    Add("}},\n");
  }

  template <typename Value>
  void AddIfKnown(const char* text, const std::optional<Value>& value) {
    if (value) fmt::format_to(fmt::appender(buffer_), fmt::runtime(text), *value);
  }

  // Events stand behind each other, with a comma between.
  void BeginEvent() {
    if (counts_.events++ > 0) Add(",\n");
    // What is full goes on its way.
    constexpr std::size_t kEnough = std::size_t{1} << 16;
    if (buffer_.size() > kEnough) Flush();
  }

  void NameOf(std::string_view what, std::int64_t pid, std::int64_t tid, const std::string& name) {
    BeginEvent();
    Add("{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": 0.000, "
        "\"args\": {{\"name\": {}}}}}",
        what, pid, tid, JsonString(name));
  }

  void NameProcesses() {
    NameOf("process_name", pid_, 0, ProcessLabel(run_, rank_));
    for (const Device& device : rank_.devices)
      NameOf("process_name", device.ordinal, 0,
             fmt::format("GPU {} {}", device.ordinal, device.name));
    for (const Thread& thread : rank_.threads)
      NameOf("thread_name", pid_, thread.tid,
             fmt::format("thread {} ({})", thread.tid, thread.name));
    std::set<std::pair<int, std::uint32_t>> named;
    for (const Stream& stream : rank_.streams) {
      if (!named.insert({stream.device, stream.stream_id}).second) continue;
      std::string name = fmt::format("stream {}", stream.stream_id);
      if (stream.name != kNone) name += fmt::format(" {}", rank_.string(stream.name));
      NameOf("thread_name", stream.device, stream.stream_id, name);
    }
  }

  void AddTime(std::string_view key, TimeNs time) {
    Add(", \"{}\": {}.{:03}", key, time / 1000, time % 1000);
  }

  // The part of an event that all have. `name`: as JSON.
  void AddHead(std::string_view category, std::string_view name, std::int64_t pid, std::int64_t tid,
               TimeNs start, TimeNs end) {
    BeginEvent();
    Add("{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": {}, \"pid\": {}, \"tid\": {}", category, name,
        pid, tid);
    AddTime("ts", start - earliest_);
    AddTime("dur", end - start);
  }

  void AddArguments(const std::vector<Argument>& arguments) {
    if (!arguments.empty()) {
      Add(", \"args\": {{");
      for (const Argument& argument : arguments) {
        Add("{}\"{}\": ", &argument == arguments.data() ? "" : ", ", argument.key);
        switch (argument.kind) {
          case Argument::Kind::kCount:
            Add("{}", argument.count);
            break;
          case Argument::Kind::kReal:
            Add("{}", argument.real);
            break;
          case Argument::Kind::kText:
            Add("{}", JsonString(argument.text));
            break;
          case Argument::Kind::kList:
            Add("{}", argument.text);
            break;
        }
      }
      Add("}}");
    }
    Add("}}");
  }

  // One end of an arrow: "ac2g" from a call to what it launched.
  void AddFlow(std::string_view category, std::string_view phase, std::uint64_t id,
               std::int64_t pid, std::int64_t tid, TimeNs time) {
    BeginEvent();
    Add("{{\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}", phase, id, pid, tid);
    AddTime("ts", time - earliest_);
    Add(", \"cat\": \"{0}\", \"name\": \"{0}\"{1}}}", category,
        phase == "f" ? ", \"bp\": \"e\"" : "");
  }

  std::string_view JsonName(std::uint32_t name) {
    while (json_names_.size() <= name)
      json_names_.push_back(
          JsonString(names_.text(static_cast<std::uint32_t>(json_names_.size()))));
    return json_names_[name];
  }

  // The time that the recording is of.
  void WriteSpan() {
    BeginEvent();
    Add("{{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"traceinject (0)\", \"pid\": \"Spans\", "
        "\"tid\": \"traceinject\"");
    AddTime("ts", rank_.start - earliest_);
    AddTime("dur", std::max<TimeNs>(0, rank_.end - rank_.start));
    AddArguments({});
  }

  // As torch.profiler has them: on the host, and what is launched in one of them belongs to it.
  void WriteSteps() {
    if (steps_.empty()) return;
    // Those of a second GPU would mix with them.
    const Steps& steps = steps_.front().steps;
    // The program's own ranges stand among the events of their thread.
    if (steps.source == StepSource::kRanges || HasProfilerSteps(rank_)) return;
    const std::vector<TimeNs> moments = MomentsOnHost(rank_, steps);
    const std::int64_t tid = TrainingThreadId(rank_);
    // Readers of these names know no number below 0.
    const std::int64_t shift = std::min<std::int64_t>(0, steps.number(0));
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
      const std::string name = fmt::format("\"{}{}\"", kProfilerStep, steps.number(i) - shift);
      AddHead("user_annotation", name, pid_, tid, moments[i], moments[i + 1]);
      AddArguments(StepArguments(steps, steps.steps[i]));
    }
  }

  void WriteThreads() {
    HostArguments arguments(rank_);
    HostEvents events(rank_);
    for (HostEvent event; events.Next(event);) {
      const std::int64_t tid = rank_.threads[event.thread].tid;
      AddHead(CategoryOf(rank_, event).kineto, JsonName(names_.Of(event)), pid_, tid, event.start,
              event.end);
      AddArguments(arguments.Of(event));
      if (event.kind == HostEventKind::kProfiled) AddAutogradFlow(event, tid);
      if (event.kind == HostEventKind::kApi && flows_.BeginsAt(event.row))
        AddFlow("ac2g", "s", rank_.api.correlation[event.row], pid_, tid, event.start);
    }
  }

  void AddAutogradFlow(const HostEvent& event, std::int64_t tid) {
    const bool begins = autograd_.BeginsAt(event.row);
    if (!begins && !autograd_.EndsAt(event.row)) return;
    AddFlow("fwdbwd", begins ? "s" : "f",
            static_cast<std::uint64_t>(rank_.profiled.sequence[event.row]), pid_, tid, event.start);
  }

  void WriteDevice(std::size_t index) {
    const Device& device = rank_.devices[index];
    const GpuOps& ops = device.ops;
    GpuArguments arguments(rank_, device);
    for (std::size_t row = 0; row < ops.size(); ++row) {
      const std::int64_t stream = rank_.streams[ops.stream[row]].stream_id;
      AddHead(CategoryOf(ops.kind[row]).kineto, JsonName(names_.Of(ops, row)), device.ordinal,
              stream, ops.start[row], ops.end[row]);
      AddArguments(arguments.Of(row));
      if (ops.launch[row] != kNone)
        AddFlow("ac2g", "f", ops.correlation[row], device.ordinal, stream, ops.start[row]);
    }
    for (const DeviceCounter& counter : DeviceCounters()) WriteCounter(device, counter);
  }

  void WriteCounter(const Device& device, const DeviceCounter& counter) {
    for (std::size_t row = 0; row < counter.rows(device); ++row) {
      const std::int64_t value = counter.value(device, row);
      if (value < 0) continue;
      BeginEvent();
      Add("{{\"ph\": \"C\", \"name\": \"{}\", \"pid\": {}, \"tid\": 0", counter.name,
          device.ordinal);
      AddTime("ts", counter.time(device, row) - earliest_);
      Add(", \"args\": {{\"{}\": {}}}}}", counter.unit, static_cast<double>(value) * counter.scale);
    }
  }

  const Run& run_;
  const Rank& rank_;
  OutputFile& file_;
  std::int64_t pid_;
  std::vector<FoundSteps> steps_;
  TimeNs earliest_;
  EventNames names_;
  LaunchFlows flows_;
  const AutogradFlows autograd_;
  fmt::memory_buffer buffer_;
  std::vector<std::string> json_names_;  // by number
  ExportCounts counts_;
};

}  // namespace

ExportCounts WriteChromeTrace(const Run& run, std::size_t rank, OutputFile& file) {
  return ChromeWriter(run, run.ranks[rank], file).Write();
}

}  // namespace traceinject
