// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/counters/counter_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analyzer/common/units.h"
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
  std::optional<CounterMean> Of(CounterId id) const {
    double sum = 0, known = 0, variance = 0;
    for (const KernelCounters& kernel : figures_.kernel_counters) {
      const auto time = by_name_.find(kernel.name);
      if (time == by_name_.end()) continue;
      for (const CounterShare& value : kernel.values) {
        if (value.id != id) continue;
        known += time->second;
        sum += time->second * value.share;
        variance += std::pow(time->second * value.error, 2);
      }
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
  CounterId id;
  std::string_view text;
};
constexpr CounterUnit kMemoryUnit = {CounterId::kDram, "device memory"},
                      kTensorUnit = {CounterId::kTensorActive, "tensor cores"},
                      kFp32Unit = {CounterId::kFp32, "FP32 pipe"},
                      kSmUnit = {CounterId::kSmActive, "SMs"};

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

std::string UnitText(const CounterUnit& unit, const CounterMean& mean) {
  return fmt::format("{} busy {} ± {}", unit.text, Percent(mean.share), Percent(mean.error));
}

std::string CounterCaveat(const CounterRule& rule, const KernelTimes& time) {
  const std::optional<CounterMean> mean = time.Of(rule.against.id);
  if (!mean || rule.caveat.empty()) return "";
  const double margin = kSigmas * mean->error;
  const bool speaks_against = rule.below ? mean->with_rest(1) + margin < rule.limit
                                         : mean->with_rest(0) - margin > rule.limit;
  if (!speaks_against) return "";
  return fmt::format("hardware counters: {} {}", UnitText(rule.against, *mean), rule.caveat);
}

}  // namespace

CounterEvidence CounterEvidenceOf(const DeviceFigures& figures, const KernelSaving& saving) {
  CounterEvidence found;
  if (figures.kernel_counters.empty()) return found;
  for (const CounterRule& rule : kCounterRules) {
    if (rule.label != saving.label) continue;
    const KernelTimes time(figures, saving);
    for (const CounterUnit& unit : rule.told) {
      const std::optional<CounterMean> mean = time.Of(unit.id);
      if (!mean) continue;
      found.text += found.text.empty() ? "hardware counters of these kernels: " : ", ";
      found.text += UnitText(unit, *mean);
    }
    found.caveat = CounterCaveat(rule, time);
  }
  return found;
}

}  // namespace traceinject
