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
    {WaterfallPart::kClock, "clock", "clock below that of the published rate"},
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

// What of a group's time is lost to what; adds up to it. `own` below 0: it took less than the
// others allow for.
struct Losses {
  double achieved = 0, clock = 0, ceiling = 0, memory = 0, own = 0;
};

Losses LossesOf(const ComputeGroup& group, double took_ns, double clock) {
  Losses losses;
  losses.achieved = group.peak_ns;
  double left = took_ns - group.peak_ns;
  double allowed = group.peak_ns;  // what is accounted for so far
  const auto take = [&](double until_ns) {
    const double part = std::clamp(until_ns - allowed, 0.0, std::max(0.0, left));
    left -= part;
    allowed += part;
    return part;
  };
  losses.clock = take(group.peak_ns * clock);
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
  void AddItem(WaterfallPart part, const std::string& name, double ns) {
    ns_[{part, std::nullopt}] += ns;
    if (ns > 0) items_[part][name] += ns;
  }
  double of(WaterfallPart part) const {
    const auto found = ns_.find({part, std::nullopt});
    return found == ns_.end() ? 0 : found->second;
  }

  // Groups of one kind together may gain what single ones lack. False: more is achieved than there
  // was time.
  bool Settle(WaterfallPart own) {
    double& rest = ns_[{own, std::nullopt}];
    for (const WaterfallPart from :
         {WaterfallPart::kMemoryBound, WaterfallPart::kCeiling, WaterfallPart::kClock}) {
      if (rest >= 0) break;
      double& part = ns_[{from, std::nullopt}];
      const double taken = std::min(part, -rest);
      part -= taken;
      rest += taken;
    }
    // A kernel's start and end are rounded to nanoseconds.
    const bool is_settled = rest > -1e-6 * static_cast<double>(found_.wall_ns);
    rest = std::max(rest, 0.0);
    return is_settled;
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

void AddKnown(const ComputeKindTime& kind, WaterfallPart own, double clock, Bars& to) {
  const double scale = ScaleOf(kind);
  for (const ComputeGroup& group : kind.groups) {
    const Losses losses = LossesOf(group, scale * static_cast<double>(group.kernel_ns), clock);
    to.Add(WaterfallPart::kAchieved, losses.achieved);
    to.AddItem(WaterfallPart::kClock, group.name, losses.clock);
    to.AddItem(WaterfallPart::kCeiling, group.name, losses.ceiling);
    to.AddItem(WaterfallPart::kMemoryBound, group.name, losses.memory);
    to.AddItem(own, group.name, losses.own);
  }
}

void AddUnknown(const ComputeKindTime& kind, WaterfallPart part, Bars& to) {
  const double scale = ScaleOf(kind);
  for (const ComputeGroup& group : kind.groups)
    to.AddItem(part, group.name, scale * static_cast<double>(group.kernel_ns));
  // Of kernels that began before.
  if (scale == 0) to.Add(part, static_cast<double>(kind.ns));
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
  AddUnknown(compute.of(ComputeKind::kUnknownWork), WaterfallPart::kUnknownWork, bars);
  AddUnknown(compute.of(ComputeKind::kOther), WaterfallPart::kMemoryBound, bars);
  const double slowed = std::max(1.0, clock.value_or(1));
  AddKnown(compute.of(ComputeKind::kProduct), WaterfallPart::kProducts, slowed, bars);
  AddKnown(compute.of(ComputeKind::kAttention), WaterfallPart::kAttention, slowed, bars);
  if (bars.of(WaterfallPart::kAchieved) <= 0)
    return Without("the FLOPs of no kernel in this time are known");
  const bool is_possible =
      bars.Settle(WaterfallPart::kProducts) && bars.Settle(WaterfallPart::kAttention);
  if (!is_possible)
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
