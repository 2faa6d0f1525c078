// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/figures.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/common/mean.h"
#include "analyzer/compare/figure_text.h"

namespace traceinject {
namespace {

constexpr double kNsPerMs = 1e6;
using Split = proto::StepSplit;
using shared::Length;

double DataWait(const Split& step) { return static_cast<double>(IdleOf(step, "data wait")); }

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

FigureValue KnownOr(std::optional<double> value, std::string reason) {
  return value ? FigureValue{value, ""} : Unknown(std::move(reason));
}

FigureValue NoSteps(const ComparedRun& run) {
  if (run.report.trust().withheld_size() > 0)
    return Unknown("step times are withheld: " + run.report.trust().withheld(0).reason());
  return Unknown(
      "no steps were found; use --step-regex to select the NVTX ranges that are steps, or record "
      "longer");
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
    if (!step.judged()) left_out += Length(step);
  }
  return run.steps.empty() || all <= 0 ? NoSteps(run) : Known(left_out / all);
}

FigureValue Goodput(const ComparedRun& run) {
  const std::optional<double> goodput = shared::kGoodput.get(run.device_steps());
  return goodput ? Known(*goodput) : NoSteps(run);
}

FigureValue SavedMs(const ComparedRun& run) {
  const proto::Verdict& verdict = run.report.verdict();
  if (!verdict.abstained().empty()) return Unknown("no verdict: " + verdict.abstained());
  return Known(shared::kSaved.get(verdict).value_or(0) / kNsPerMs);
}

FigureValue MfuShare(const ComparedRun& run) {
  const proto::Mfu& mfu = run.report.mfu();
  return KnownOr(shared::kMfu.get(mfu), mfu.reason());
}

FigureValue HfuShare(const ComparedRun& run) {
  const proto::MatrixProducts& products = run.report.run().matrix_products();
  return KnownOr(shared::kHfu.get(products), products.peak_reason().empty()
                                                 ? "no GEMMs were recorded"
                                                 : products.peak_reason());
}

FigureValue SamplesPerSecond(const ComparedRun& run) {
  return KnownOr(
      shared::kSamplesPerSecond.get(run.report.run().samples()),
      "the number of samples per batch is unknown; use --tokens-per-step for tokens_per_second");
}

FigureValue TokensPerSecond(const ComparedRun& run) {
  const auto tokens = run.options.mfu.tokens_per_step;
  if (!tokens) return Unknown("give --tokens-per-step");
  return run.steps.empty() ? NoSteps(run) : Known(*tokens / Mean(run.Series(Length)) * 1e9);
}

FigureValue CommComputeRatio(const ComparedRun& run) {
  return KnownOr(shared::kCommComputeRatio.get(run.device().partition()),
                 "no compute kernels were recorded");
}

FigureValue OverlapShare(const ComparedRun& run) {
  return KnownOr(shared::kOverlapShare.get(run.device().partition()),
                 "no communication was recorded");
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
  return KnownOr(taken,
                 "no memory data: PyTorch's allocator was not sampled, and allocation calls were "
                 "not recorded");
}

FigureValue AllocatorRetries(const ComparedRun& run) {
  const auto retries = Largest(run.report, [](const proto::DeviceReport& device) {
    return device.allocator().has_retries() ? std::optional<double>(device.allocator().retries())
                                            : std::nullopt;
  });
  return KnownOr(retries, "PyTorch's allocator was not sampled");
}

template <const SharedFigure<proto::Telemetry>& kFigure>
FigureValue FromTelemetry(const ComparedRun& run) {
  return KnownOr(kFigure.get(run.device().telemetry()),
                 run.rank() != nullptr && !run.rank()->imported_from.empty()
                     ? "this kind of trace has no GPU samples"
                     : "the GPU was not sampled; set TRACEINJECT_TELEMETRY_HZ to enable it");
}

FigureValue KernelsPerStep(const ComparedRun& run) {
  if (run.steps.empty()) return NoSteps(run);
  return Known(static_cast<double>(run.device().kernels().count()) /
               static_cast<double>(run.steps.size()));
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

template <typename Message>
constexpr Figure Shared(const SharedFigure<Message>& figure, Better better,
                        FigureValue (*read)(const ComparedRun&),
                        FigureNoise noise = FigureNoise::kUnknown) {
  return {figure.key, figure.unit, better, figure.help, read, noise};
}

template <const TimeFigure& kFigure>
constexpr Figure OfSteps(Better better) {
  constexpr bool kIsShare = kFigure.unit == FigureUnit::kShare;
  return {kFigure.key,
          kFigure.unit,
          better,
          kFigure.help,
          kIsShare ? MeanShare<kFigure.get> : MeanMs<kFigure.get>,
          kSteps,
          kIsShare ? Share<kFigure.get> : Ms<kFigure.get>};
}

constexpr Figure kFigures[] = {
    OfSteps<shared::kStep>(Better::kLower),
    {"step_ms_p50", FigureUnit::kMs, Better::kLower, "median step time", Quantile<50>},
    {"step_ms_p95", FigureUnit::kMs, Better::kLower, "95th percentile of step time", Quantile<95>},
    {"left_out_share", FigureUnit::kShare, Better::kLower,
     "share of the time of all non-warm-up steps in those that are not judged: isolated irregular, "
     "evaluation and checkpoint steps",
     LeftOutShare},
    Shared(shared::kGoodput, Better::kHigher, Goodput),
    Shared(shared::kSamplesPerSecond, Better::kHigher, SamplesPerSecond, kStepTime),
    {"tokens_per_second", FigureUnit::kPerSecond, Better::kHigher,
     "--tokens-per-step divided by the mean step time", TokensPerSecond, kStepTime},
    Shared(shared::kMfu, Better::kHigher, MfuShare, kStepTime),
    Shared(shared::kHfu, Better::kHigher, HfuShare, kStepTime),
    Shared(shared::kSaved, Better::kLower, SavedMs),
    OfSteps<shared::kBusyShare>(Better::kHigher),
    OfSteps<shared::kComputeTime>(Better::kLower),
    OfSteps<shared::kComputeShare>(Better::kHigher),
    OfSteps<shared::kExposedCommTime>(Better::kLower),
    OfSteps<shared::kExposedCommShare>(Better::kLower),
    Shared(shared::kCommComputeRatio, Better::kLower, CommComputeRatio),
    Shared(shared::kOverlapShare, Better::kHigher, OverlapShare),
    OfSteps<shared::kExposedCopyTime>(Better::kLower),
    OfSteps<shared::kExposedCopyShare>(Better::kLower),
    OfSteps<shared::kIdleTime>(Better::kLower),
    OfSteps<shared::kIdleShare>(Better::kLower),
    {"data_wait_ms", FigureUnit::kMs, Better::kLower,
     "per mean step, GPU idle while the program waited for its data loader", MeanMs<DataWait>,
     kSteps, Ms<DataWait>},
    {"data_wait_share", FigureUnit::kShare, Better::kLower,
     "share of time, GPU idle while the program waited for its data loader", MeanShare<DataWait>,
     kSteps, Share<DataWait>},
    {"kernels_per_step", FigureUnit::kCount, Better::kLower, "kernels launched per step",
     KernelsPerStep, kExact},
    {"peak_memory_bytes", FigureUnit::kBytes, Better::kLower,
     "peak reserved by PyTorch's allocator, else peak allocated while recording; of the GPU with "
     "the most",
     PeakMemory, kExact},
    {"allocator_retries", FigureUnit::kCount, Better::kLower,
     "times PyTorch's allocator had to free cached blocks to find memory", AllocatorRetries,
     kExact},
    Shared(shared::kSmClock, Better::kHigher, FromTelemetry<shared::kSmClock>),
    Shared(shared::kThrottledShare, Better::kLower, FromTelemetry<shared::kThrottledShare>),
    Shared(shared::kPower, Better::kLower, FromTelemetry<shared::kPower>),
    {"records_lost_share", FigureUnit::kShare, Better::kLower, "share of records known to be lost",
     RecordsLost},
    {"hygiene_faults", FigureUnit::kCount, Better::kLower, "machine faults proven by the recording",
     HygieneFaults, kExact},
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
  const double center = difference.change();
  difference.before = figure.read(before).value.value_or(0);
  difference.after = figure.read(after).value.value_or(0);
  if (difference.interval) {
    const double shift = difference.change() - center;
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
