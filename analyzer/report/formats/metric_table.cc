// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/formats/metric_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/report/layout/shared_figures.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/labels.h"
#include "schemas/counters.h"

namespace traceinject {
namespace {

using proto::Report;
using Device = proto::DeviceReport;
using Number = std::optional<double>;
using Labels = MetricLabels;
using Sample = MetricSample;
using shared::If;

constexpr std::string_view kDeviceLabels = "rank host pid gpu";
constexpr std::string_view kSourceLabels = "rank host pid";

double Seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
double Seconds(double ns) { return ns * 1e-9; }

// Of a process. `index` is of Report.sources.
Labels LabelsOf(const proto::Report& report, int index) {
  const proto::Source& source = report.sources(index);
  Labels labels;
  if (source.has_rank()) labels.emplace_back("rank", std::to_string(source.rank()));
  labels.emplace_back("host", source.host());
  labels.emplace_back("pid", std::to_string(source.pid()));
  // Two samples must not have the same labels, and containers may call their hosts and number their
  // processes alike.
  for (int other = 0; other < report.sources_size(); ++other) {
    const proto::Source& another = report.sources(other);
    if (other == index || another.host() != source.host() || another.pid() != source.pid() ||
        another.rank() != source.rank())
      continue;
    labels.emplace_back("process", std::to_string(index));
    break;
  }
  return labels;
}

Labels LabelsOf(const DeviceView& view) {
  Labels labels = LabelsOf(view.report, view.device.source());
  labels.emplace_back("gpu", std::to_string(view.device.ordinal()));
  return labels;
}

// Calls visit(view) for each GPU.
template <typename Visit>
void ForEachDevice(const proto::Report& report, Visit visit) {
  for (int i = 0; i < report.devices_size(); ++i) {
    const bool has_steps = i < report.steps_size();
    visit(DeviceView{report, report.devices(i),
                     has_steps ? report.steps(i) : proto::DeviceSteps::default_instance()});
  }
}

std::vector<Sample> One(double value) { return {{{}, value}}; }
std::vector<Sample> OneIf(bool known, double value) {
  return known ? One(value) : std::vector<Sample>();
}

// A part of the mean step.
Number PartOfStep(const DeviceView& view, double ns_of_sum) {
  const std::int64_t steps = view.steps.judged();
  if (steps == 0 || !view.steps.has_judged_mean_ns()) return std::nullopt;
  return Seconds(ns_of_sum / static_cast<double>(steps));
}

std::vector<Sample> IdleCausesOfSteps(const proto::Report& report) {
  std::vector<Sample> samples;
  ForEachDevice(report, [&](const DeviceView& view) {
    for (const proto::IdlePart& part : view.steps.judged_sum().idle()) {
      const Number seconds = PartOfStep(view, static_cast<double>(part.ns()));
      if (!seconds) continue;
      Labels labels = LabelsOf(view);
      labels.emplace_back("cause", part.cause());
      samples.push_back({std::move(labels), *seconds});
    }
  });
  return samples;
}

std::vector<Sample> GpuInfo(const proto::Report& report) {
  std::vector<Sample> samples;
  ForEachDevice(report, [&](const DeviceView& view) {
    Labels labels = LabelsOf(view);
    labels.emplace_back("model", view.device.name());
    samples.push_back({std::move(labels), 1});
  });
  return samples;
}

std::vector<Sample> RunInfo(const proto::Report& report) {
  Labels labels = {{"analyze_version", report.tool_version()}};
  if (report.sources_size() > 0) {
    const proto::Source& first = report.sources(0);
    labels.emplace_back("run_id", first.run_id());
    if (first.has_world_size())
      labels.emplace_back("world_size", std::to_string(first.world_size()));
  }
  return {{std::move(labels), 1}};
}

std::vector<Sample> SamplesPerSecond(const proto::Report& report) {
  // Of a process: its GPUs have the same.
  std::vector<Sample> samples;
  std::set<int> seen;
  for (const proto::DeviceReport& device : report.devices()) {
    const Number value = shared::kSamplesPerSecond.get(device.samples());
    if (value && seen.insert(device.source()).second)
      samples.push_back({LabelsOf(report, device.source()), *value});
  }
  return samples;
}

std::vector<Sample> Savings(const proto::Report& report) {
  std::vector<Sample> samples;
  std::set<std::pair<std::string, std::string>> seen;
  for (const proto::Saving& saving : report.verdict().savings()) {
    if (!seen.insert({saving.label(), saving.place()}).second) continue;
    samples.push_back(
        {{{"cause", saving.label()}, {"place", saving.place()}}, Seconds(saving.saved_ns())});
  }
  return samples;
}

// What DCGM's profiling fields call it, for dashboards that were made for these. Source: field
// identifiers of DCGM 3 and 4. Empty: it has none.
std::string_view DcgmField(std::string_view counter) {
  constexpr std::pair<CounterId, std::string_view> kFields[] = {
      {CounterId::kGraphicsActive, "DCGM_FI_PROF_GR_ENGINE_ACTIVE"},
      {CounterId::kSmActive, "DCGM_FI_PROF_SM_ACTIVE"},
      {CounterId::kWarpsActive, "DCGM_FI_PROF_SM_OCCUPANCY"},
      {CounterId::kTensorActive, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"},
      {CounterId::kTensorHmma, "DCGM_FI_PROF_PIPE_TENSOR_HMMA_ACTIVE"},
      {CounterId::kTensorImma, "DCGM_FI_PROF_PIPE_TENSOR_IMMA_ACTIVE"},
      {CounterId::kTensorDfma, "DCGM_FI_PROF_PIPE_TENSOR_DFMA_ACTIVE"},
      {CounterId::kFp64, "DCGM_FI_PROF_PIPE_FP64_ACTIVE"},
      {CounterId::kFp32, "DCGM_FI_PROF_PIPE_FP32_ACTIVE"},
      {CounterId::kFp16, "DCGM_FI_PROF_PIPE_FP16_ACTIVE"},
      {CounterId::kDram, "DCGM_FI_PROF_DRAM_ACTIVE"},
  };
  for (const auto& [id, field] : kFields) {
    if (InfoOf(id).name == counter) return field;
  }
  return "";
}

std::vector<Sample> MeasuredShares(const proto::Report& report) {
  std::vector<Sample> samples;
  ForEachDevice(report, [&](const DeviceView& view) {
    for (const proto::MeasuredShare& value : view.device.measured_use().values()) {
      Labels labels = LabelsOf(view);
      labels.emplace_back("counter", value.name());
      labels.emplace_back("dcgm_field", std::string(DcgmField(value.name())));
      samples.push_back({std::move(labels), value.share()});
    }
  });
  return samples;
}

constexpr std::string_view kHealthGrades[] = {"good", "lossy", "bad", "unknown"};

// One sample a state, 1 for the one that holds.
std::vector<Sample> States(std::string_view label, std::span<const std::string_view> states,
                           const std::string& holds) {
  std::vector<Sample> samples;
  bool known = false;
  for (const std::string_view state : states) {
    known = known || state == holds;
    samples.push_back({{{label, std::string(state)}}, state == holds ? 1.0 : 0.0});
  }
  if (!known) samples.push_back({{{label, holds}}, 1});
  return samples;
}

std::vector<Sample> RunningProcesses(const proto::Report& report) {
  std::vector<Sample> samples;
  for (int i = 0; i < report.sources_size(); ++i)
    samples.push_back({LabelsOf(report, i), report.sources(i).closed() ? 0.0 : 1.0});
  return samples;
}

// Of each process; a stall that has ended counts as none.
std::vector<Sample> Stalls(const proto::Report& report) {
  std::vector<double> seconds(static_cast<std::size_t>(report.sources_size()), 0);
  for (const proto::Stall& stall : report.stalls()) {
    if (!stall.has_end_ns())
      seconds[static_cast<std::size_t>(stall.source())] = Seconds(stall.length_ns());
  }
  std::vector<Sample> samples;
  for (int i = 0; i < report.sources_size(); ++i)
    samples.push_back({LabelsOf(report, i), seconds[static_cast<std::size_t>(i)]});
  return samples;
}

// Of each process of which value(file) is known.
template <typename Value>
std::vector<Sample> OfFiles(const RunView& run, Value value) {
  std::vector<Sample> samples;
  const std::size_t known =
      std::min(run.facts.files.size(), static_cast<std::size_t>(run.report.sources_size()));
  for (std::size_t i = 0; i < known; ++i) {
    if (const Number number = value(run.facts.files[i]))
      samples.push_back({LabelsOf(run.report, static_cast<int>(i)), *number});
  }
  return samples;
}

std::vector<Sample> RecorderTimes(const proto::Report& report) {
  std::vector<Sample> samples;
  for (const proto::RecordingCost& cost : report.recording_costs()) {
    const auto add = [&](const char* where, std::int64_t ns) {
      Labels labels = LabelsOf(report, cost.source());
      labels.emplace_back("where", where);
      samples.push_back({std::move(labels), Seconds(ns)});
    };
    if (cost.has_own_ns()) add("program", cost.own_ns());
    add("writer", cost.writer_cpu_ns());
    if (cost.has_sampler_cpu_ns()) add("sampler", cost.sampler_cpu_ns());
  }
  return samples;
}

std::vector<Sample> RecordedTimes(const proto::Report& report) {
  std::vector<Sample> samples;
  for (const proto::RecordingCost& cost : report.recording_costs())
    samples.push_back({LabelsOf(report, cost.source()), Seconds(cost.recorded_ns())});
  return samples;
}

struct BaseUnit {
  std::string_view name;
  double factor = 1;  // from what SharedFigure::get gives
};
BaseUnit BaseUnitOf(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kMs:
      return {"seconds", 1e-9};
    case FigureUnit::kShare:
    case FigureUnit::kRatio:
      return {"ratio"};
    case FigureUnit::kBytes:
      return {"bytes"};
    case FigureUnit::kMhz:
      return {"hertz", 1e6};
    case FigureUnit::kWatt:
      return {"watts"};
    case FigureUnit::kPerSecond:
    case FigureUnit::kCount:
      break;
  }
  return {""};
}

Number InBaseUnit(FigureUnit unit, Number value) {
  return value ? Number(*value * BaseUnitOf(unit).factor) : value;
}

template <typename Figure>
Metric Shared(const Figure& figure, std::string_view labels, decltype(Metric::of_device) of_device,
              decltype(Metric::of_report) of_report = nullptr) {
  return {figure.metric, MetricType::kGauge, BaseUnitOf(figure.unit).name, labels, figure.help,
          of_device,     of_report};
}

// kPart: what of the report or of a GPU the figure is taken from.
template <const auto& kFigure, auto kPart>
Metric OfReport() {
  return Shared(kFigure, "", nullptr, [](const proto::Report& report) {
    const Number value = InBaseUnit(kFigure.unit, kFigure.get((report.*kPart)()));
    return value ? One(*value) : std::vector<Sample>();
  });
}

template <const auto& kFigure, auto kPart>
Metric OfDevice() {
  return Shared(kFigure, kDeviceLabels, [](const DeviceView& view) {
    return InBaseUnit(kFigure.unit, kFigure.get((view.device.*kPart)()));
  });
}

template <const TimeFigure& kFigure>
Metric OfMeanStep() {
  return Shared(kFigure, kDeviceLabels, [](const DeviceView& view) {
    return PartOfStep(view, kFigure.get(view.steps.judged_sum()));
  });
}

// The window as one step.
proto::StepSplit SplitOf(const proto::Partition& partition) {
  proto::StepSplit split;
  split.set_length_ns(partition.wall_ns());
  split.set_compute_ns(partition.compute_ns());
  split.set_exposed_communication_ns(partition.exposed_communication_ns());
  split.set_exposed_copy_ns(partition.exposed_copy_ns());
  split.set_idle_ns(partition.idle_ns());
  return split;
}

template <const TimeFigure& kFigure>
Metric OfWindow() {
  return Shared(kFigure, kDeviceLabels, [](const DeviceView& view) {
    const proto::StepSplit window = SplitOf(view.device.partition());
    return If(window.length_ns() > 0, kFigure.get(window) / shared::Length(window));
  });
}

const Metric kMetrics[] = {
    {"run", MetricType::kInfo, "", "analyze_version run_id world_size", "the recorded run", nullptr,
     RunInfo},
    {"gpu", MetricType::kInfo, "", "rank host pid gpu model", "a GPU that did work", nullptr,
     GpuInfo},
    {"recording_readable", MetricType::kGauge, "", "",
     "1: the recording could be read; 0: it does not exist yet or cannot be read", nullptr,
     [](const proto::Report&) { return One(1); }},
    {"process_open", MetricType::kGauge, "", kSourceLabels,
     "1: the process is running, or was killed; 0: its recording was closed", nullptr,
     RunningProcesses},
    {"process_killed", MetricType::kGauge, "", kSourceLabels,
     "1: the process was killed: it is gone, and its recording was not closed; absent: it is of "
     "another machine, so that this is not known",
     nullptr, nullptr,
     [](const RunView& run) {
       return OfFiles(run, [](const RecordingFile& file) {
         return file.killed ? Number(*file.killed ? 1 : 0) : std::nullopt;
       });
     }},
    {"window_seconds", MetricType::kGauge, "seconds", "",
     "time these metrics cover: the steps that the verdict judges", nullptr,
     [](const proto::Report& report) {
       return OneIf(report.devices_size() > 0, Seconds(report.scope().time_ns()));
     }},
    {"last_operation_timestamp_seconds", MetricType::kGauge, "seconds", "",
     "when the last recorded GPU operation ended, since the Unix epoch", nullptr,
     [](const proto::Report& report) {
       return OneIf(report.devices_size() > 0,
                    Seconds(report.run().origin_unix_ns() + report.run().window().end_ns()));
     }},
    {"gpu_last_operation_timestamp_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "the same of each GPU: one that stays behind the others has stopped",
     [](const DeviceView& view) {
       return Number(Seconds(view.report.run().origin_unix_ns() + view.device.window().end_ns()));
     }},
    {"stall_seconds", MetricType::kGauge, "seconds", kSourceLabels,
     "how long nothing has completed on its GPUs although work was launched, once that is longer "
     "than TRACEINJECT_STALL; 0: no stall",
     nullptr, Stalls},
    {"verdict", MetricType::kStateSet, "", "traceinject_verdict", "what limits the run", nullptr,
     [](const proto::Report& report) {
       return States("traceinject_verdict", kVerdictLabels, report.verdict().label());
     }},
    {"verdict_confidence_ratio", MetricType::kGauge, "ratio", "", "confidence of the verdict",
     nullptr,
     [](const proto::Report& report) {
       return OneIf(report.verdict().has_confidence(), report.verdict().confidence());
     }},
    OfReport<shared::kSaved, &Report::verdict>(),
    {"saving_seconds", MetricType::kGauge, "seconds", "cause place",
     "time saved per mean step if this cause were removed; causes overlap, so do not add them up",
     nullptr, Savings},
    OfReport<shared::kMfu, &Report::mfu>(),
    OfDevice<shared::kHfu, &Device::matrix_products>(),
    {"measured_hfu_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "hardware FLOPs utilization by shapes where they are known, else by the tensor cores' counter",
     [](const DeviceView& view) {
       const proto::MeasuredUse& use = view.device.measured_use();
       return If(use.has_peak_share(), use.peak_share());
     }},
    {"counter_ratio", MetricType::kGauge, "ratio", "rank host pid gpu counter dcgm_field",
     "sampled hardware counter, of the most that the unit could do; dcgm_field: what DCGM calls it",
     nullptr, MeasuredShares},
    {"steps", MetricType::kCounter, "", "",
     "training steps recorded so far, of the process that has the fewest; only those that the "
     "optimizer or an NVTX range tells",
     nullptr, nullptr,
     [](const RunView& run) {
       return OneIf(run.facts.steps.has_value(), static_cast<double>(run.facts.steps.value_or(0)));
     }},
    Shared(shared::kSamplesPerSecond, kSourceLabels, nullptr, SamplesPerSecond),
    OfMeanStep<shared::kStep>(),
    {"step_median_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "median training step of those that the verdict judges",
     [](const DeviceView& view) {
       return If(view.steps.has_judged_median_ns(), Seconds(view.steps.judged_median_ns()));
     }},
    Shared(shared::kGoodput, kDeviceLabels,
           [](const DeviceView& view) { return shared::kGoodput.get(view.steps); }),
    OfMeanStep<shared::kComputeTime>(),
    OfMeanStep<shared::kExposedCommTime>(),
    OfMeanStep<shared::kExposedCopyTime>(),
    OfMeanStep<shared::kIdleTime>(),
    {"step_idle_cause_seconds", MetricType::kGauge, "seconds", "rank host pid gpu cause",
     "the same by cause; the causes add up to it", nullptr, IdleCausesOfSteps},
    {"step_data_wait_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "of a mean step, while the program waited for its data loaders; the GPU may have been busy",
     [](const DeviceView& view) {
       return PartOfStep(view, static_cast<double>(view.steps.judged_sum().data_wait_ns()));
     }},
    OfWindow<shared::kBusyShare>(),
    OfWindow<shared::kComputeShare>(),
    OfWindow<shared::kExposedCommShare>(),
    OfWindow<shared::kExposedCopyShare>(),
    OfWindow<shared::kIdleShare>(),
    OfDevice<shared::kCommComputeRatio, &Device::partition>(),
    OfDevice<shared::kOverlapShare, &Device::partition>(),
    {"gpu_memory_used_bytes", MetricType::kGauge, "bytes", kDeviceLabels,
     "peak device memory in use, by all processes and the driver",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_memory_used_bytes(), telemetry.memory_used_bytes().most());
     }},
    {"allocator_allocated_peak_bytes", MetricType::kGauge, "bytes", kDeviceLabels,
     "peak memory in tensors, from PyTorch's allocator",
     [](const DeviceView& view) {
       const proto::Allocator& allocator = view.device.allocator();
       return If(allocator.has_peak_allocated_bytes(),
                 static_cast<double>(allocator.peak_allocated_bytes()));
     }},
    {"allocator_reserved_peak_bytes", MetricType::kGauge, "bytes", kDeviceLabels,
     "peak memory reserved by PyTorch's allocator",
     [](const DeviceView& view) {
       const proto::Allocator& allocator = view.device.allocator();
       return If(allocator.has_peak_reserved_bytes(),
                 static_cast<double>(allocator.peak_reserved_bytes()));
     }},
    OfDevice<shared::kSmClock, &Device::telemetry>(),
    {"gpu_memory_clock_hertz", MetricType::kGauge, "hertz", kDeviceLabels,
     "mean clock of device memory",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_memory_clock_mhz(), telemetry.memory_clock_mhz().mean() * 1e6);
     }},
    OfDevice<shared::kThrottledShare, &Device::telemetry>(),
    OfDevice<shared::kPower, &Device::telemetry>(),
    {"gpu_temperature_celsius", MetricType::kGauge, "celsius", kDeviceLabels, "highest temperature",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_temperature_c(), telemetry.temperature_c().most());
     }},
    {"records_seen", MetricType::kCounter, "", "",
     "records received by the recorder, all kinds and ranks", nullptr,
     [](const proto::Report& report) {
       return One(static_cast<double>(report.health().records_seen()));
     }},
    {"records_lost", MetricType::kCounter, "", "", "records known to be lost", nullptr,
     [](const proto::Report& report) {
       return One(static_cast<double>(report.health().records_lost()));
     }},
    {"recording_bytes", MetricType::kGauge, "bytes", kSourceLabels, "size of the recording on disk",
     nullptr, nullptr,
     [](const RunView& run) {
       return OfFiles(run, [](const RecordingFile& file) {
         return file.bytes ? Number(static_cast<double>(*file.bytes)) : std::nullopt;
       });
     }},
    {"recorded_seconds", MetricType::kCounter, "seconds", kSourceLabels,
     "time in which the recorder recorded", nullptr, RecordedTimes},
    {"recorder_seconds", MetricType::kCounter, "seconds", "rank host pid where",
     "processor time of the recorder; where: program, on the program's threads, estimated; writer "
     "and sampler, on threads of its own",
     nullptr, RecorderTimes},
    {"health", MetricType::kStateSet, "", "traceinject_health",
     "quality of the recording; bad: do not rely on the figures", nullptr,
     [](const proto::Report& report) {
       return States("traceinject_health", kHealthGrades, HealthGradeText(report.health().grade()));
     }},
};

}  // namespace

std::span<const Metric> Metrics() { return kMetrics; }

std::vector<MetricSample> SamplesOf(const Metric& metric, const RunView& run) {
  if (metric.of_run != nullptr) return metric.of_run(run);
  if (metric.of_report != nullptr) return metric.of_report(run.report);
  std::vector<MetricSample> samples;
  ForEachDevice(run.report, [&](const DeviceView& view) {
    if (const Number value = metric.of_device(view)) samples.push_back({LabelsOf(view), *value});
  });
  return samples;
}

}  // namespace traceinject
