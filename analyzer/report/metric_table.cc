// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/metric_table.h"

#include <set>

#include "analyzer/report/text_notation.h"

namespace traceinject {
namespace {

using Number = std::optional<double>;
using Labels = MetricLabels;
using Sample = MetricSample;

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

// A part of the mean regular step.
Number PartOfStep(const DeviceView& view, std::int64_t ns_of_sum) {
  const std::int64_t steps = view.steps.regular();
  if (steps == 0 || !view.steps.has_regular_mean_ns()) return std::nullopt;
  return Seconds(static_cast<double>(ns_of_sum) / static_cast<double>(steps));
}

Number ShareOfWall(const DeviceView& view, std::int64_t ns) {
  const std::int64_t wall = view.device.partition().wall_ns();
  if (wall == 0) return std::nullopt;
  return static_cast<double>(ns) / static_cast<double>(wall);
}

Number If(bool known, double value) { return known ? Number(value) : std::nullopt; }

std::vector<Sample> IdleCausesOfSteps(const proto::Report& report) {
  std::vector<Sample> samples;
  ForEachDevice(report, [&](const DeviceView& view) {
    for (const proto::IdlePart& part : view.steps.regular_sum().idle()) {
      const Number seconds = PartOfStep(view, part.ns());
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
    if (!device.samples().has_per_second() || !seen.insert(device.source()).second) continue;
    samples.push_back({LabelsOf(report, device.source()), device.samples().per_second()});
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

// One sample a state, 1 for the one that holds.
std::vector<Sample> States(std::string_view label, const std::vector<std::string_view>& states,
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

const Metric kMetrics[] = {
    {"run", MetricType::kInfo, "", "analyze_version run_id world_size", "the recorded run", nullptr,
     RunInfo},
    {"gpu", MetricType::kInfo, "", "rank host pid gpu model", "a GPU that worked", nullptr,
     GpuInfo},
    {"recording_readable", MetricType::kGauge, "", "",
     "1: the recording could be read; 0: there is none yet, or it cannot be read", nullptr,
     [](const proto::Report&) { return One(1); }},
    {"process_open", MetricType::kGauge, "", kSourceLabels,
     "1: the process is running, or was killed; 0: its recording was closed", nullptr,
     RunningProcesses},
    {"window_seconds", MetricType::kGauge, "seconds", "", "the time that these figures are of",
     nullptr,
     [](const proto::Report& report) {
       const proto::Window& window = report.run().window();
       return OneIf(report.devices_size() > 0, Seconds(window.end_ns() - window.start_ns()));
     }},
    {"last_operation_timestamp_seconds", MetricType::kGauge, "seconds", "",
     "when the last recorded GPU operation ended, since the Unix epoch", nullptr,
     [](const proto::Report& report) {
       return OneIf(report.devices_size() > 0,
                    Seconds(report.run().origin_unix_ns() + report.run().window().end_ns()));
     }},
    {"verdict", MetricType::kStateSet, "", "traceinject_verdict", "what limits the run", nullptr,
     [](const proto::Report& report) {
       return States("traceinject_verdict", VerdictLabels(), report.verdict().label());
     }},
    {"verdict_confidence_ratio", MetricType::kGauge, "ratio", "", "how sure the verdict is",
     nullptr,
     [](const proto::Report& report) {
       return OneIf(report.verdict().has_confidence(), report.verdict().confidence());
     }},
    {"verdict_saved_seconds", MetricType::kGauge, "seconds", "",
     "what a mean step would get back if the cause of the verdict vanished", nullptr,
     [](const proto::Report& report) {
       return OneIf(report.verdict().has_saved_ns(), Seconds(report.verdict().saved_ns()));
     }},
    {"saving_seconds", MetricType::kGauge, "seconds", "cause place",
     "what a mean step would get back if this cause vanished; causes overlap, so do not add them",
     nullptr, Savings},
    {"mfu_ratio", MetricType::kGauge, "ratio", "",
     "model FLOPs utilisation of the job; only with --params or --flops-per-step", nullptr,
     [](const proto::Report& report) {
       return OneIf(report.mfu().has_mfu_percent(), report.mfu().mfu_percent() / 100);
     }},
    {"known_flops_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "of a step, what its known matrix products would take at the GPU's dense peak: a lower bound "
     "of FLOPs utilisation",
     [](const DeviceView& view) {
       const proto::MatrixProducts& products = view.device.matrix_products();
       return If(products.has_peak_share(), products.peak_share());
     }},
    {"samples_per_second", MetricType::kGauge, "", kSourceLabels,
     "samples that the program trains on", nullptr, SamplesPerSecond},
    {"step_seconds", MetricType::kGauge, "seconds", kDeviceLabels, "mean regular training step",
     [](const DeviceView& view) {
       return If(view.steps.has_regular_mean_ns(), Seconds(view.steps.regular_mean_ns()));
     }},
    {"step_median_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "median regular training step",
     [](const DeviceView& view) {
       return If(view.steps.has_regular_median_ns(), Seconds(view.steps.regular_median_ns()));
     }},
    {"step_compute_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "of a mean step, while compute kernels ran",
     [](const DeviceView& view) {
       return PartOfStep(view, view.steps.regular_sum().compute_ns());
     }},
    {"step_exposed_communication_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "of a mean step, while communication ran and no compute",
     [](const DeviceView& view) {
       return PartOfStep(view, view.steps.regular_sum().exposed_communication_ns());
     }},
    {"step_exposed_copy_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "of a mean step, while copies ran and no kernel",
     [](const DeviceView& view) {
       return PartOfStep(view, view.steps.regular_sum().exposed_copy_ns());
     }},
    {"step_idle_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "of a mean step, while nothing ran on the GPU",
     [](const DeviceView& view) { return PartOfStep(view, view.steps.regular_sum().idle_ns()); }},
    {"step_idle_cause_seconds", MetricType::kGauge, "seconds", "rank host pid gpu cause",
     "the same by cause; the causes add up to it", nullptr, IdleCausesOfSteps},
    {"step_data_wait_seconds", MetricType::kGauge, "seconds", kDeviceLabels,
     "of a mean step, while the program waited for its data loaders; the GPU may have been busy",
     [](const DeviceView& view) {
       return PartOfStep(view, view.steps.regular_sum().data_wait_ns());
     }},
    {"gpu_busy_ratio", MetricType::kGauge, "ratio", kDeviceLabels, "of the time, something ran",
     [](const DeviceView& view) { return ShareOfWall(view, view.device.partition().busy_ns()); }},
    {"gpu_compute_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "of the time, compute kernels ran",
     [](const DeviceView& view) {
       return ShareOfWall(view, view.device.partition().compute_ns());
     }},
    {"gpu_exposed_communication_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "of the time, communication ran and no compute",
     [](const DeviceView& view) {
       return ShareOfWall(view, view.device.partition().exposed_communication_ns());
     }},
    {"gpu_exposed_copy_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "of the time, copies ran and no kernel",
     [](const DeviceView& view) {
       return ShareOfWall(view, view.device.partition().exposed_copy_ns());
     }},
    {"gpu_idle_ratio", MetricType::kGauge, "ratio", kDeviceLabels, "of the time, nothing ran",
     [](const DeviceView& view) { return ShareOfWall(view, view.device.partition().idle_ns()); }},
    {"communication_to_compute_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "time of communication over time of compute; waiting for other ranks is in it",
     [](const DeviceView& view) {
       const proto::Partition& partition = view.device.partition();
       return If(partition.has_communication_to_compute(), partition.communication_to_compute());
     }},
    {"communication_overlap_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "of the time of communication, compute ran too",
     [](const DeviceView& view) {
       const proto::Partition& partition = view.device.partition();
       return If(partition.has_overlap_share(), partition.overlap_share());
     }},
    {"gpu_memory_used_bytes", MetricType::kGauge, "bytes", kDeviceLabels,
     "most device memory in use, by all processes and the driver",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_memory_used_bytes(), telemetry.memory_used_bytes().most());
     }},
    {"allocator_allocated_peak_bytes", MetricType::kGauge, "bytes", kDeviceLabels,
     "most memory in tensors, as PyTorch's allocator tells",
     [](const DeviceView& view) {
       const proto::Allocator& allocator = view.device.allocator();
       return If(allocator.has_peak_allocated_bytes(),
                 static_cast<double>(allocator.peak_allocated_bytes()));
     }},
    {"allocator_reserved_peak_bytes", MetricType::kGauge, "bytes", kDeviceLabels,
     "most memory that PyTorch's allocator held",
     [](const DeviceView& view) {
       const proto::Allocator& allocator = view.device.allocator();
       return If(allocator.has_peak_reserved_bytes(),
                 static_cast<double>(allocator.peak_reserved_bytes()));
     }},
    {"gpu_sm_clock_hertz", MetricType::kGauge, "hertz", kDeviceLabels,
     "mean clock of the multiprocessors while the GPU was busy",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_busy_sm_clock_mhz(), telemetry.busy_sm_clock_mhz() * 1e6);
     }},
    {"gpu_memory_clock_hertz", MetricType::kGauge, "hertz", kDeviceLabels,
     "mean clock of device memory",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_memory_clock_mhz(), telemetry.memory_clock_mhz().mean() * 1e6);
     }},
    {"gpu_throttled_ratio", MetricType::kGauge, "ratio", kDeviceLabels,
     "of the busy time, the card held its clock down, for whatever reason",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.busy_ns() > 0, static_cast<double>(telemetry.throttled_busy_ns()) /
                                              static_cast<double>(telemetry.busy_ns()));
     }},
    {"gpu_power_watts", MetricType::kGauge, "watts", kDeviceLabels, "mean power of the board",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_power_w(), telemetry.power_w().mean());
     }},
    {"gpu_temperature_celsius", MetricType::kGauge, "celsius", kDeviceLabels, "highest temperature",
     [](const DeviceView& view) {
       const proto::Telemetry& telemetry = view.device.telemetry();
       return If(telemetry.has_temperature_c(), telemetry.temperature_c().most());
     }},
    {"records_seen", MetricType::kCounter, "", "",
     "records that came to the recorder, all kinds and ranks", nullptr,
     [](const proto::Report& report) {
       return One(static_cast<double>(report.health().records_seen()));
     }},
    {"records_lost", MetricType::kCounter, "", "", "records known to be lost", nullptr,
     [](const proto::Report& report) {
       return One(static_cast<double>(report.health().records_lost()));
     }},
    {"health", MetricType::kStateSet, "", "traceinject_health",
     "how good the recording is; bad: do not rely on the figures", nullptr,
     [](const proto::Report& report) {
       return States("traceinject_health", {"good", "lossy", "bad", "unknown"},
                     HealthGradeText(report.health().grade()));
     }},
};

}  // namespace

std::span<const Metric> Metrics() { return kMetrics; }

std::vector<MetricSample> SamplesOf(const Metric& metric, const proto::Report& report) {
  if (metric.of_report != nullptr) return metric.of_report(report);
  std::vector<MetricSample> samples;
  ForEachDevice(report, [&](const DeviceView& view) {
    if (const Number value = metric.of_device(view)) samples.push_back({LabelsOf(view), *value});
  });
  return samples;
}

const std::vector<std::string_view>& VerdictLabels() {
  static const std::vector<std::string_view> labels = {"dataloader",
                                                       "h2d_copy",
                                                       "comm_exposed",
                                                       "slow_link",
                                                       "straggler",
                                                       "imbalance",
                                                       "pipeline_bubble",
                                                       "launch_bound",
                                                       "sync_bound",
                                                       "allocator",
                                                       "checkpoint",
                                                       "gc_pause",
                                                       "low_precision_unused",
                                                       "inefficient_gemm",
                                                       "unfused_attention",
                                                       "memory_bound",
                                                       "throttled",
                                                       "compute_bound",
                                                       "inconclusive"};
  return labels;
}

}  // namespace traceinject
