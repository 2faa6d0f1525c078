// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/counters/counter_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/metrics/gpu/sm_rates.h"
#include "analyzer/model/kernel_class.h"
#include "schemas/counters.h"

namespace traceinject {
namespace {

constexpr double kLeastCovered = 0.5, kSigmas = 3;
constexpr double kLeastError = 0.001;  // samples are in thousandths

// Over the time of kernels that have the counter.
struct CounterMean {
  double share = 0, error = 0;
  double covered = 0;  // how much of the kernels' time that is

  // Over all of their time, if the rest were at `rest`.
  double with_rest(double rest) const { return covered * share + (1 - covered) * rest; }
};

using UseOfUnit = std::optional<CounterShare> (*)(const KernelCounters&);

// Kernels of a verdict, by name.
class KernelTimes {
 public:
  KernelTimes(const DeviceFigures& figures, const KernelSaving& saving) : figures_(figures) {
    const GpuOps& ops = figures.device->ops;
    for (const OpLength& length : saving.lengths) {
      if (ops.kind[length.row] != OpKind::kKernel) continue;
      const auto took = static_cast<double>(ops.end[length.row] - ops.start[length.row]);
      by_name_[figures.rank->shapes[ops.detail[length.row]].name] += took;
      total_ += took;
    }
  }

  // Empty: of too little it is known.
  std::optional<CounterMean> Of(UseOfUnit use) const {
    double sum = 0, known = 0, variance = 0;
    for (const KernelCounters& kernel : figures_.kernel_counters) {
      const auto time = by_name_.find(kernel.name);
      const std::optional<CounterShare> value = use(kernel);
      if (time == by_name_.end() || !value) continue;
      known += time->second;
      sum += time->second * value->share;
      variance += std::pow(time->second * value->error, 2);
    }
    if (known <= 0 || known < kLeastCovered * total_) return std::nullopt;
    return CounterMean{sum / known, std::max(kLeastError, std::sqrt(variance) / known),
                       known / total_};
  }

 private:
  const DeviceFigures& figures_;
  std::map<std::uint32_t, double> by_name_;  // ns
  double total_ = 0;
};

struct CounterUnit {
  UseOfUnit use;
  std::string_view text;
};
constexpr CounterUnit
    kMemoryUnit = {[](const KernelCounters&kernel) { return kernel.memory(); }, "device memory"},
    kTensorUnit = {[](const KernelCounters&kernel) { return kernel.tensor(); }, "tensor cores"},
    kFp32Unit = {[](const KernelCounters&kernel) { return kernel.value(CounterId::kFp32); },
                 "FP32 pipe"},
    kFp64Unit = {[](const KernelCounters&kernel) { return kernel.value(CounterId::kFp64); },
                 "FP64 pipe"},
    kSmUnit = {[](const KernelCounters&kernel) { return kernel.value(CounterId::kSmActive); },
               "SMs"};

// What is said of a label, and which figure speaks against it.
struct CounterRule {
  std::string_view label;
  CounterUnit told[2];
  CounterUnit against;
  bool below;  // it does where it is below the limit, else above
  double limit;
  std::string_view caveat;  // behind the figure
};
constexpr CounterRule kCounterRules[] = {
    {"memory_bound",
     {kMemoryUnit, kTensorUnit},
     kMemoryUnit,
     true,
     0.4,
     "while these kernels run: something else than moving data takes their time, too"},
    {"inefficient_gemm",
     {kTensorUnit, kSmUnit},
     kTensorUnit,
     false,
     0.8,
     "while these kernels run: better ones would gain less than their shapes suggest"},
    {"low_precision_unused",
     {kFp32Unit, kTensorUnit},
     kTensorUnit,
     false,
     0.2,
     "while these kernels run: they use them already"},
    {"throttled", {kTensorUnit, kMemoryUnit}, kTensorUnit, true, 0, ""},
};

std::string UnitText(const CounterUnit& unit, double share, double error) {
  return fmt::format("{} busy {} ± {}", unit.text, Percent(share),
                     Percent(std::max(kLeastError, error)));
}

// What holds a kernel up, and what shows that.
struct LimitText {
  KernelLimit limit;
  std::string_view text;
  const CounterUnit* units[2];
};
constexpr LimitText kLimitTexts[] = {
    {KernelLimit::kTensor, "at the limit of the tensor cores", {&kTensorUnit, nullptr}},
    {KernelLimit::kMemory, "at the limit of device memory", {&kMemoryUnit, nullptr}},
    {KernelLimit::kFp32, "at the limit of the FP32 pipe", {&kFp32Unit, nullptr}},
    {KernelLimit::kFp64, "at the limit of the FP64 pipe", {&kFp64Unit, nullptr}},
    {KernelLimit::kLaunch, "too few blocks for the GPU", {&kSmUnit, nullptr}},
    {KernelLimit::kLatency, "at no unit's limit: warps wait", {&kTensorUnit, &kMemoryUnit}},
};

// "at the limit of the tensor cores (tensor cores busy 91.2 % ± 0.3 %, at 1410 of 1830 MHz)".
std::string LimitOf(const KernelCounters& kernel, std::optional<double> rated_mhz) {
  const KernelLimit limit = kernel.limit();
  for (const LimitText& row : kLimitTexts) {
    if (row.limit != limit) continue;
    std::string told;
    for (const CounterUnit* unit : row.units) {
      const auto use = unit == nullptr ? std::nullopt : unit->use(kernel);
      if (use)
        told +=
            fmt::format("{}{}", told.empty() ? "" : ", ", UnitText(*unit, use->share, use->error));
    }
    const auto mhz = rated_mhz && limit == KernelLimit::kTensor
                         ? kernel.tensor_clock_mhz(*rated_mhz)
                         : std::nullopt;
    if (mhz) told += fmt::format(", at {:.0f} of {:.0f} MHz", *mhz, *rated_mhz);
    return fmt::format("{} ({})", row.text, told);
  }
  return "";
}

std::string CounterCaveat(const CounterRule& rule, const KernelTimes& time) {
  const std::optional<CounterMean> mean = time.Of(rule.against.use);
  if (!mean || rule.caveat.empty()) return "";
  const double margin = kSigmas * mean->error;
  const bool speaks_against = rule.below ? mean->with_rest(1) + margin < rule.limit
                                         : mean->with_rest(0) - margin > rule.limit;
  if (!speaks_against) return "";
  return fmt::format("hardware counters: {} {}", UnitText(rule.against, mean->share, mean->error),
                     rule.caveat);
}

}  // namespace

CounterEvidence CounterEvidenceOf(const DeviceFigures& figures, const KernelSaving& saving) {
  CounterEvidence found;
  if (figures.kernel_counters.empty()) return found;
  for (const CounterRule& rule : kCounterRules) {
    if (rule.label != saving.label) continue;
    const KernelTimes time(figures, saving);
    for (const CounterUnit& unit : rule.told) {
      const std::optional<CounterMean> mean = time.Of(unit.use);
      if (!mean) continue;
      found.text += found.text.empty() ? "hardware counters of these kernels: " : ", ";
      found.text += UnitText(unit, mean->share, mean->error);
    }
    found.caveat = CounterCaveat(rule, time);
  }
  return found;
}

std::string KernelLimitsOf(const DeviceFigures& figures, double steps) {
  constexpr std::size_t kMostTold = 3;
  std::vector<const KernelCounters*> known;
  for (const KernelCounters& kernel : figures.kernel_counters) {
    if (kernel.limit() != KernelLimit::kUnknown) known.push_back(&kernel);
  }
  if (known.empty() || steps <= 0) return "";
  std::sort(known.begin(), known.end(), [](const KernelCounters* a, const KernelCounters* b) {
    return std::pair(-a->ns, a->name) < std::pair(-b->ns, b->name);
  });
  known.resize(std::min(known.size(), kMostTold));
  const auto rated_mhz = RatedSmClockMhz(*figures.device, PeakDtype::kBf16);
  std::string text;
  for (const KernelCounters* kernel : known)
    text +=
        fmt::format("{}{}, {} a step: {}", text.empty() ? "hardware counters: " : "; ",
                    StripKernelName(figures.rank->strings[kernel->name]),
                    Rounded(static_cast<double>(kernel->ns) / steps), LimitOf(*kernel, rated_mhz));
  return text;
}

}  // namespace traceinject
