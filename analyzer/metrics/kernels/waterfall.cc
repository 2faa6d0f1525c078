// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/waterfall.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "analyzer/common/remainders.h"
#include "analyzer/metrics/gpu/gpu_specs.h"

namespace traceinject {
namespace {

struct PartText {
  WaterfallPart part;
  std::string_view name, title;
};
constexpr PartText kPartTexts[] = {
    {WaterfallPart::kClock, "clock", "clock below the GPU's highest"},
    {WaterfallPart::kIdle, "idle", "idle"},
    {WaterfallPart::kExposedCommunication, "exposed_communication", "exposed communication"},
    {WaterfallPart::kExposedCopies, "exposed_copies", "exposed copies"},
    {WaterfallPart::kUnrecorded, "unrecorded", "not recorded"},
    {WaterfallPart::kMemoryBound, "memory_bound", "memory-bound kernels"},
    {WaterfallPart::kUnknownWork, "unknown_work",
     "GEMMs, convolutions, attention of unknown FLOPs"},
    {WaterfallPart::kAttention, "attention", "attention below the best kernels"},
    {WaterfallPart::kProducts, "products", "GEMMs below the best kernels"},
    {WaterfallPart::kCeiling, "ceiling", "what the best kernels do not reach either"},
    {WaterfallPart::kAchieved, "achieved", "achieved"},
};

const PartText& TextOf(WaterfallPart part) { return kPartTexts[static_cast<std::size_t>(part)]; }

constexpr std::size_t kItems = 3;

// What of a time is lost to what; adds up to it. `own` below 0: it took less than the others allow
// for.
struct Losses {
  double achieved = 0, clock = 0, ceiling = 0, memory = 0, own = 0;

  Losses& operator+=(const Losses& other) {
    achieved += other.achieved;
    clock += other.clock;
    ceiling += other.ceiling;
    memory += other.memory;
    own += other.own;
    return *this;
  }
  // Some groups together may gain what others lack. Below 0 it stays where more is achieved than
  // there was time.
  void Settle() {
    for (double* from : {&memory, &ceiling, &clock}) {
      const double taken = std::clamp(-own, 0.0, *from);
      *from -= taken;
      own += taken;
    }
  }
};

// What a group that took so long would take at the highest clock: multiprocessors follow it, memory
// has a clock of its own.
double AtHighestClock(const ComputeGroup& group, double took_ns, double slowed) {
  return std::max(took_ns / slowed, std::min(took_ns, group.memory_ns));
}

// `slowed`: the highest clock / that of the busy GPU, at least 1.
Losses LossesOf(const ComputeGroup& group, double took_ns, double slowed) {
  Losses losses;
  losses.achieved = group.peak_ns;
  double left = took_ns - group.peak_ns;
  losses.clock =
      std::clamp(took_ns - AtHighestClock(group, took_ns, slowed), 0.0, std::max(0.0, left));
  left -= losses.clock;
  double allowed = group.peak_ns;  // what is accounted for, at the highest clock
  const auto take = [&](double until_ns) {
    const double part = std::clamp(until_ns - allowed, 0.0, std::max(0.0, left));
    left -= part;
    allowed += part;
    return part;
  };
  losses.ceiling = take(group.reached_ns);
  losses.memory = take(group.memory_ns);
  losses.own = left;
  return losses;
}

class Bars {
 public:
  explicit Bars(TimeNs wall_ns) { found_.wall_ns = wall_ns; }

  void Add(WaterfallPart part, double ns, std::optional<IdleCause> cause = std::nullopt) {
    ns_[{part, cause}] += ns;
  }
  // Of what was added to the part.
  void Name(WaterfallPart part, const std::string& name, double ns) {
    if (ns > 0) items_[part][name] += ns;
  }
  double of(WaterfallPart part) const {
    const auto found = ns_.find({part, std::nullopt});
    return found == ns_.end() ? 0 : found->second;
  }

  // Whole nanoseconds that add up to the wall time.
  Waterfall Finish() {
    double until = 0;
    TimeNs given = 0;
    for (const auto& [key, ns] : ns_) {
      until += ns;
      const bool is_last = key == std::prev(ns_.end())->first;
      const TimeNs end = is_last ? found_.wall_ns : static_cast<TimeNs>(std::llround(until));
      if (end > given) found_.bars.push_back({key.first, key.second, end - given, {}});
      given = std::max(given, end);
    }
    for (WaterfallBar& bar : found_.bars) {
      if (!bar.cause) bar.items = Largest(bar.part);
    }
    return std::move(found_);
  }

 private:
  std::vector<WaterfallItem> Largest(WaterfallPart part) {
    std::vector<WaterfallItem> items;
    for (const auto& [name, ns] : items_[part])
      items.push_back({name, static_cast<TimeNs>(std::llround(ns))});
    std::stable_sort(items.begin(), items.end(),
                     [](const WaterfallItem& a, const WaterfallItem& b) { return a.ns > b.ns; });
    if (items.size() > kItems) items.resize(kItems);
    return items;
  }

  Waterfall found_;
  std::map<std::pair<WaterfallPart, std::optional<IdleCause>>, double> ns_;
  std::map<WaterfallPart, std::map<std::string, double>> items_;
};

// What groups of a kind take of the time of the kind.
double ScaleOf(const ComputeKindTime& kind) {
  TimeNs kernel_ns = 0;
  for (const ComputeGroup& group : kind.groups) kernel_ns += group.kernel_ns;
  return kernel_ns == 0 ? 0 : static_cast<double>(kind.ns) / static_cast<double>(kernel_ns);
}

// False: more is achieved than there was time.
bool AddKnown(const ComputeKindTime& kind, WaterfallPart own, double slowed, Bars& to) {
  const double scale = ScaleOf(kind);
  Losses all;
  for (const ComputeGroup& group : kind.groups) {
    const Losses losses = LossesOf(group, scale * static_cast<double>(group.kernel_ns), slowed);
    all += losses;
    to.Name(WaterfallPart::kClock, group.name, losses.clock);
    to.Name(WaterfallPart::kCeiling, group.name, losses.ceiling);
    to.Name(WaterfallPart::kMemoryBound, group.name, losses.memory);
    to.Name(own, group.name, losses.own);
  }
  if (scale == 0) all.own += static_cast<double>(kind.ns);  // of kernels that began before
  all.Settle();
  to.Add(WaterfallPart::kAchieved, all.achieved);
  to.Add(WaterfallPart::kClock, all.clock);
  to.Add(WaterfallPart::kCeiling, all.ceiling);
  to.Add(WaterfallPart::kMemoryBound, all.memory);
  to.Add(own, std::max(all.own, 0.0));
  // Starts and ends of kernels are rounded to nanoseconds.
  return all.own > -1e-6 * static_cast<double>(kind.ns) - 1;
}

// `slowed`: 1 where the kernels do not follow the clock.
void AddUnknown(const ComputeKindTime& kind, WaterfallPart part, double slowed, Bars& to) {
  const double scale = ScaleOf(kind), clock = 1 - 1 / slowed;
  for (const ComputeGroup& group : kind.groups) {
    const double took_ns = scale * static_cast<double>(group.kernel_ns);
    to.Name(WaterfallPart::kClock, group.name, clock * took_ns);
    to.Name(part, group.name, (1 - clock) * took_ns);
  }
  to.Add(WaterfallPart::kClock, clock * static_cast<double>(kind.ns));
  to.Add(part, (1 - clock) * static_cast<double>(kind.ns));
}

void AddIdle(const StepSplit& split, Bars& to) {
  const TimeNs known = std::accumulate(split.idle_ns.begin(), split.idle_ns.end(), TimeNs{0});
  if (known != split.partition.idle_ns)
    return to.Add(WaterfallPart::kIdle, static_cast<double>(split.partition.idle_ns));
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    if (split.idle_ns[cause] > 0)
      to.Add(WaterfallPart::kIdle, static_cast<double>(split.idle_ns[cause]),
             static_cast<IdleCause>(cause));
  }
}

Waterfall Without(std::string reason) {
  Waterfall none;
  none.reason = std::move(reason);
  return none;
}

void Round(Waterfall& waterfall) {
  std::vector<std::int64_t> parts;
  for (const WaterfallBar& bar : waterfall.bars) parts.push_back(bar.ns);
  const std::vector<std::int64_t> tenths = LargestRemainders(parts, 1000);
  for (std::size_t i = 0; i < parts.size(); ++i)
    waterfall.bars[i].tenths = static_cast<std::int32_t>(tenths[i]);
}

}  // namespace

std::string_view WaterfallPartName(WaterfallPart part) { return TextOf(part).name; }
std::string_view WaterfallPartTitle(WaterfallPart part) { return TextOf(part).title; }

const WaterfallBar* Waterfall::largest_loss_of_computing() const {
  const WaterfallBar* largest = nullptr;
  for (const WaterfallBar& bar : bars) {
    switch (bar.part) {
      case WaterfallPart::kClock:
      case WaterfallPart::kMemoryBound:
      case WaterfallPart::kUnknownWork:
      case WaterfallPart::kAttention:
      case WaterfallPart::kProducts:
      case WaterfallPart::kCeiling:
        if (largest == nullptr || bar.ns > largest->ns) largest = &bar;
        break;
      default:
        break;
    }
  }
  return largest;
}

Waterfall WaterfallOf(const Device& device, const StepSplit& split, const ComputeTime& compute,
                      std::optional<double> clock) {
  if (FindGpuSpec(device.name) == nullptr) return Without(UnknownPeakText(device.name));
  const Partition& partition = split.partition;
  Bars bars(partition.wall_ns);
  AddIdle(split, bars);
  bars.Add(WaterfallPart::kExposedCommunication,
           static_cast<double>(partition.exposed_communication_ns));
  bars.Add(WaterfallPart::kExposedCopies, static_cast<double>(partition.exposed_copy_ns));
  bars.Add(WaterfallPart::kUnrecorded, static_cast<double>(partition.unrecorded_ns));
  const double slowed = std::max(1.0, clock.value_or(1));
  AddUnknown(compute.of(ComputeKind::kUnknownWork), WaterfallPart::kUnknownWork, slowed, bars);
  AddUnknown(compute.of(ComputeKind::kOther), WaterfallPart::kMemoryBound, 1, bars);
  const bool products_fit =
      AddKnown(compute.of(ComputeKind::kProduct), WaterfallPart::kProducts, slowed, bars);
  const bool attention_fits =
      AddKnown(compute.of(ComputeKind::kAttention), WaterfallPart::kAttention, slowed, bars);
  if (bars.of(WaterfallPart::kAchieved) <= 0)
    return Without("the FLOPs of no kernel in this time are known");
  if (!products_fit || !attention_fits)
    return Without("the known FLOPs would take longer at the published peak than their kernels");
  Waterfall found = bars.Finish();
  double full_square_ns = 0;
  for (const ComputeGroup& group : compute.of(ComputeKind::kAttention).groups)
    full_square_ns += group.full_square_ns;
  found.full_square_ns = std::llround(full_square_ns);
  Round(found);
  return found;
}

}  // namespace traceinject
