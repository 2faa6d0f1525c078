// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/compare/figure_text.h"

namespace traceinject {
namespace {

constexpr double kNsPerMs = 1e6;
using Split = proto::StepSplit;

double Length(const Split& step) { return static_cast<double>(step.length_ns()); }
double Compute(const Split& step) { return static_cast<double>(step.compute_ns()); }
double ExposedComm(const Split& step) {
  return static_cast<double>(step.exposed_communication_ns());
}
double ExposedCopy(const Split& step) { return static_cast<double>(step.exposed_copy_ns()); }
double Idle(const Split& step) { return static_cast<double>(step.idle_ns()); }
double DataWait(const Split& step) { return static_cast<double>(IdleOf(step, "data wait")); }
double Busy(const Split& step) { return Compute(step) + ExposedComm(step) + ExposedCopy(step); }

using OfStep = double (*)(const Split&);

template <OfStep kPart>
double Ms(const Split& step) {
  return kPart(step) / kNsPerMs;
}
template <OfStep kPart>
double Share(const Split& step) {
  return step.length_ns() > 0 ? kPart(step) / Length(step) : 0;
}

FigureValue Unknown(std::string reason) { return {std::nullopt, std::move(reason)}; }

template <typename Value>
FigureValue Known(Value value) {
  return {static_cast<double>(value), ""};
}

FigureValue NoSteps(const ComparedRun& run) {
  if (run.report.trust().withheld_size() > 0)
    return Unknown("the lengths of steps are withheld: " + run.report.trust().withheld(0).reason());
  return Unknown(
      "no steps were found; --step-regex says which NVTX ranges are steps, and a longer recording "
      "holds more of them");
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <OfStep kPart>
FigureValue MeanMs(const ComparedRun& run) {
  return run.steps.empty() ? NoSteps(run) : Known(Mean(run.Series(Ms<kPart>)));
}

// Of the compared steps; without steps of the window.
template <OfStep kPart>
FigureValue MeanShare(const ComparedRun& run) {
  if (run.steps.empty()) {
    const Split& window = run.device_steps().sum();
    return window.length_ns() > 0 ? Known(Share<kPart>(window)) : NoSteps(run);
  }
  return Known(Mean(run.Series(kPart)) / Mean(run.Series(Length)));
}

// The least time that a share of the steps do not exceed.
template <int kPercent>
FigureValue Quantile(const ComparedRun& run) {
  std::vector<double> times = run.Series(Ms<Length>);
  if (times.empty()) return NoSteps(run);
  const std::size_t rank = (times.size() * kPercent + 99) / 100;
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(times.begin(), at, times.end());
  return Known(*at);
}

FigureValue LeftOutShare(const ComparedRun& run) {
  double left_out = 0, all = 0;
  for (const Split& step : run.device_steps().steps()) {
    if (step.kind() == "warm-up") continue;
    all += Length(step);
    if (step.kind() != "regular") left_out += Length(step);
  }
  return run.steps.empty() || all <= 0 ? NoSteps(run) : Known(left_out / all);
}

FigureValue SavedMs(const ComparedRun& run) {
  const proto::Verdict& verdict = run.report.verdict();
  if (!verdict.abstained().empty()) return Unknown("no verdict: " + verdict.abstained());
  return Known(static_cast<double>(verdict.saved_ns()) / kNsPerMs);
}

FigureValue MfuShare(const ComparedRun& run) {
  const proto::Mfu& mfu = run.report.mfu();
  return mfu.has_mfu_percent() ? Known(mfu.mfu_percent() / 100) : Unknown(mfu.reason());
}

FigureValue HfuShare(const ComparedRun& run) {
  const proto::MatrixProducts& products = run.report.run().matrix_products();
  if (products.has_peak_share()) return Known(products.peak_share());
  return Unknown(products.peak_reason().empty() ? "no matrix products were recorded"
                                                : products.peak_reason());
}

FigureValue SamplesPerSecond(const ComparedRun& run) {
  const proto::Samples& samples = run.report.run().samples();
  if (samples.has_per_second()) return Known(samples.per_second());
  return Unknown(
      "the data loader did not tell how many samples a batch holds; give "
      "--tokens-per-step for tokens_per_second");
}

FigureValue TokensPerSecond(const ComparedRun& run) {
  const auto tokens = run.options.mfu.tokens_per_step;
  if (!tokens) return Unknown("give --tokens-per-step");
  return run.steps.empty() ? NoSteps(run) : Known(*tokens / Mean(run.Series(Length)) * 1e9);
}

FigureValue CommComputeRatio(const ComparedRun& run) {
  const proto::Partition& partition = run.device_during().partition();
  return partition.has_communication_to_compute() ? Known(partition.communication_to_compute())
                                                  : Unknown("no compute kernels were recorded");
}

FigureValue OverlapShare(const ComparedRun& run) {
  const proto::Partition& partition = run.device_during().partition();
  return partition.has_overlap_share() ? Known(partition.overlap_share())
                                       : Unknown("no communication was recorded");
}

// The largest over all GPUs. read: of a GPU, empty if it is not known.
template <typename Read>
std::optional<double> Largest(const Report& report, Read read) {
  std::optional<double> largest;
  for (const proto::DeviceReport& device : report.devices()) {
    if (const std::optional<double> one = read(device))
      largest = std::max(largest.value_or(*one), *one);
  }
  return largest;
}

FigureValue PeakMemory(const ComparedRun& run) {
  const auto reserved = Largest(run.report, [](const proto::DeviceReport& device) {
    return device.allocator().has_peak_reserved_bytes()
               ? std::optional<double>(device.allocator().peak_reserved_bytes())
               : std::nullopt;
  });
  if (reserved) return {reserved, ""};
  const auto taken = Largest(run.report, [](const proto::DeviceReport& device) {
    return device.has_memory_calls() ? std::optional<double>(device.memory_calls().peak_bytes())
                                     : std::nullopt;
  });
  if (taken) return {taken, ""};
  return Unknown(
      "the recording tells nothing of memory: PyTorch's allocator was not sampled, and calls that "
      "allocate were not recorded");
}

FigureValue AllocatorRetries(const ComparedRun& run) {
  const auto retries = Largest(run.report, [](const proto::DeviceReport& device) {
    return device.allocator().has_retries() ? std::optional<double>(device.allocator().retries())
                                            : std::nullopt;
  });
  return retries ? FigureValue{retries, ""} : Unknown("PyTorch's allocator was not sampled");
}

FigureValue FromTelemetry(const ComparedRun& run, bool known, double value) {
  if (known) return Known(value);
  return Unknown(run.rank() != nullptr && !run.rank()->imported_from.empty()
                     ? "such a trace has no samples of the GPU"
                     : "the GPU was not sampled; TRACEINJECT_TELEMETRY_HZ turns that on");
}

FigureValue SmClock(const ComparedRun& run) {
  const proto::Telemetry& telemetry = run.device_during().telemetry();
  return FromTelemetry(run, telemetry.has_busy_sm_clock_mhz(), telemetry.busy_sm_clock_mhz());
}

FigureValue ThrottledShare(const ComparedRun& run) {
  const proto::Telemetry& telemetry = run.device_during().telemetry();
  const double busy_ns = static_cast<double>(std::max<std::int64_t>(1, telemetry.busy_ns()));
  return FromTelemetry(run, telemetry.busy_ns() > 0,
                       static_cast<double>(telemetry.throttled_busy_ns()) / busy_ns);
}

FigureValue Power(const ComparedRun& run) {
  const proto::Telemetry& telemetry = run.device_during().telemetry();
  return FromTelemetry(run, telemetry.has_power_w(), telemetry.power_w().mean());
}

FigureValue KernelsPerStep(const ComparedRun& run) {
  if (run.steps.empty()) return NoSteps(run);
  return Known(static_cast<double>(run.device_during().kernels().count()) / run.steps_during);
}

FigureValue RecordsLost(const ComparedRun& run) {
  const proto::Health& health = run.report.health();
  return health.has_lost_share() ? Known(health.lost_share())
                                 : Unknown("the recording has no health counters");
}

FigureValue HygieneFaults(const ComparedRun& run) {
  return Known(std::count_if(
      run.report.hygiene().begin(), run.report.hygiene().end(),
      [](const proto::HygieneFinding& finding) { return finding.severity() == "fault"; }));
}

constexpr auto kSteps = FigureNoise::kSteps;
constexpr auto kStepTime = FigureNoise::kStepTime;
constexpr auto kExact = FigureNoise::kExact;

constexpr Figure kFigures[] = {
    {"step_ms", FigureUnit::kMs, Better::kLower, "a mean step", MeanMs<Length>, kSteps, Ms<Length>},
    {"step_ms_p50", FigureUnit::kMs, Better::kLower, "half of the steps take no longer",
     Quantile<50>},
    {"step_ms_p95", FigureUnit::kMs, Better::kLower, "95 % of the steps take no longer",
     Quantile<95>},
    {"left_out_share", FigureUnit::kShare, Better::kLower,
     "of the time of all steps but warm-up: irregular ones, evaluation, checkpoints", LeftOutShare},
    {"samples_per_second", FigureUnit::kPerSecond, Better::kHigher,
     "samples of the data loaders, all processes", SamplesPerSecond, kStepTime},
    {"tokens_per_second", FigureUnit::kPerSecond, Better::kHigher,
     "--tokens-per-step over a mean step", TokensPerSecond, kStepTime},
    {"mfu", FigureUnit::kShare, Better::kHigher,
     "model FLOPs utilisation; needs --params and --tokens-per-step, or --flops-per-step", MfuShare,
     kStepTime},
    {"hfu", FigureUnit::kShare, Better::kHigher,
     "hardware FLOPs utilisation, of the matrix products and attention that were seen: a lower "
     "bound",
     HfuShare, kStepTime},
    {"saved_ms", FigureUnit::kMs, Better::kLower,
     "what a step would get back without what the verdict names", SavedMs},
    {"gpu_busy", FigureUnit::kShare, Better::kHigher, "of a step, something ran on the GPU",
     MeanShare<Busy>, kSteps, Share<Busy>},
    {"compute_ms", FigureUnit::kMs, Better::kLower, "compute kernels in a step", MeanMs<Compute>,
     kSteps, Ms<Compute>},
    {"compute_share", FigureUnit::kShare, Better::kHigher, "the same, of a step",
     MeanShare<Compute>, kSteps, Share<Compute>},
    {"exposed_comm_ms", FigureUnit::kMs, Better::kLower,
     "communication in a step with no compute beside it", MeanMs<ExposedComm>, kSteps,
     Ms<ExposedComm>},
    {"exposed_comm_share", FigureUnit::kShare, Better::kLower, "the same, of a step",
     MeanShare<ExposedComm>, kSteps, Share<ExposedComm>},
    {"comm_compute_ratio", FigureUnit::kRatio, Better::kLower,
     "time of communication over time of compute; contains waiting for other ranks",
     CommComputeRatio},
    {"overlap_share", FigureUnit::kShare, Better::kHigher,
     "of the communication, with compute beside it", OverlapShare},
    {"exposed_copy_ms", FigureUnit::kMs, Better::kLower,
     "copies in a step with nothing beside them", MeanMs<ExposedCopy>, kSteps, Ms<ExposedCopy>},
    {"exposed_copy_share", FigureUnit::kShare, Better::kLower, "the same, of a step",
     MeanShare<ExposedCopy>, kSteps, Share<ExposedCopy>},
    {"idle_ms", FigureUnit::kMs, Better::kLower, "nothing ran on the GPU, in a step", MeanMs<Idle>,
     kSteps, Ms<Idle>},
    {"idle_share", FigureUnit::kShare, Better::kLower, "the same, of a step", MeanShare<Idle>,
     kSteps, Share<Idle>},
    {"data_wait_ms", FigureUnit::kMs, Better::kLower,
     "idle in a step while the program waited for its data loader", MeanMs<DataWait>, kSteps,
     Ms<DataWait>},
    {"data_wait_share", FigureUnit::kShare, Better::kLower, "the same, of a step",
     MeanShare<DataWait>, kSteps, Share<DataWait>},
    {"kernels_per_step", FigureUnit::kCount, Better::kLower, "kernels launched in a step",
     KernelsPerStep, kExact},
    {"peak_memory_bytes", FigureUnit::kBytes, Better::kLower,
     "most that PyTorch's allocator took, else most that was allocated while recording; of the GPU "
     "with most",
     PeakMemory, kExact},
    {"allocator_retries", FigureUnit::kCount, Better::kLower,
     "times PyTorch's allocator had to give blocks back to find memory", AllocatorRetries, kExact},
    {"busy_sm_clock_mhz", FigureUnit::kMhz, Better::kHigher,
     "clock of the SMs while busy, in steps", SmClock},
    {"throttled_share", FigureUnit::kShare, Better::kLower,
     "of the busy time in steps, the card held its clock down", ThrottledShare},
    {"power_w", FigureUnit::kWatt, Better::kLower, "mean power of the card, in steps", Power},
    {"records_lost_share", FigureUnit::kShare, Better::kLower, "of the records, known to be lost",
     RecordsLost},
    {"hygiene_faults", FigureUnit::kCount, Better::kLower,
     "faults of the machine that the recording proves", HygieneFaults, kExact},
};

}  // namespace

std::span<const Figure> Figures() { return kFigures; }

const Figure* FindFigure(std::string_view name) {
  const auto found = std::find_if(std::begin(kFigures), std::end(kFigures),
                                  [&](const Figure& figure) { return figure.name == name; });
  return found == std::end(kFigures) ? nullptr : found;
}

MeanDifference DifferenceOf(const Figure& figure, const ComparedRun& before,
                            const ComparedRun& after) {
  MeanDifference difference;
  if (figure.of_step != nullptr && !before.steps.empty() && !after.steps.empty())
    difference = DifferenceOfMeans(before.Series(figure.of_step), after.Series(figure.of_step));
  // The mean of shares is not the share of means.
  const double centre = difference.change();
  difference.before = figure.read(before).value.value_or(0);
  difference.after = figure.read(after).value.value_or(0);
  if (difference.interval) {
    const double shift = difference.change() - centre;
    difference.interval->low += shift;
    difference.interval->high += shift;
  }
  return difference;
}

void CompareFigures(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to) {
  for (const Figure& figure : Figures()) {
    proto::FigureChange& row = *to.add_figures();
    row.set_name(std::string(figure.name));
    row.set_unit(std::string(UnitName(figure.unit)));
    row.set_better(figure.better == Better::kLower ? "lower" : "higher");
    const FigureValue was = figure.read(before), is = figure.read(after);
    if (was.value) row.set_before(*was.value);
    if (is.value) row.set_after(*is.value);
    row.set_reason_before(was.reason);
    row.set_reason_after(is.reason);
    if (!was.value || !is.value) continue;
    const MeanDifference difference = DifferenceOf(figure, before, after);
    if (!difference.interval) continue;
    row.set_low(difference.interval->low);
    row.set_high(difference.interval->high);
  }
}

}  // namespace traceinject
