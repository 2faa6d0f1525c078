// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/ruler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace traceinject {
namespace {

struct Unit {
  TimeNs size_ns;
  const char* name;
};

constexpr Unit kUnits[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}};

TimeNs RoundStep(double least_ns) {
  TimeNs power = 1;
  while (true) {
    for (const TimeNs factor : {1, 2, 5}) {
      if (static_cast<double>(power * factor) >= least_ns) return power * factor;
    }
    power *= 10;
  }
}

std::string Label(TimeNs time_ns, TimeNs step_ns, const Unit& unit) {
  int decimals = 0;
  for (TimeNs part = unit.size_ns; part > step_ns; part /= 10) ++decimals;
  TimeNs last_digit = unit.size_ns;
  for (int i = 0; i < decimals; ++i) last_digit /= 10;
  const TimeNs magnitude = std::llabs(time_ns);
  std::string label = time_ns < 0 ? "-" : "";
  label += fmt::format("{}", magnitude / unit.size_ns);
  if (decimals > 0) {
    label += fmt::format(".{:0{}}", magnitude % unit.size_ns / last_digit, decimals);
  }
  return label + " " + unit.name;
}

}  // namespace

std::vector<Tick> RulerTicks(const TimelineView& view, TimeNs origin_ns, float apart_px) {
  const TimeNs from = view.start_ns() - origin_ns, to = view.end_ns() - origin_ns;
  const TimeNs step = RoundStep(std::max(1.0, view.ns_per_px() * static_cast<double>(apart_px)));
  const TimeNs largest = std::max(std::llabs(from), std::llabs(to));
  const Unit* unit =
      std::find_if(std::begin(kUnits), std::end(kUnits) - 1,
                   [&](const Unit& candidate) { return largest >= candidate.size_ns; });
  std::vector<Tick> ticks;
  TimeNs time = from / step * step;
  if (time < from) time += step;
  for (; time <= to; time += step) ticks.push_back({time + origin_ns, Label(time, step, *unit)});
  return ticks;
}

}  // namespace traceinject
