// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/clock_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace traceinject {
namespace {

// What no statistics of an edge shows, such as ends that always come in the same order. Of ways
// that are equally certain the one of fewer edges counts.
constexpr double kEdgeSigmaNs = 1'000;
// A clock is right about itself whenever it is asked.
constexpr Interval kAlways{std::numeric_limits<TimeNs>::min(), kOpen};

}  // namespace

ClockFit Composed(const ClockFit& outer, const ClockFit& inner) {
  ClockFit fit = inner;
  const double between = static_cast<double>(inner.reference - outer.reference) + inner.offset_ns;
  fit.offset_ns = inner.offset_ns + outer.offset_ns + outer.drift * between;
  fit.drift = inner.drift + outer.drift + inner.drift * outer.drift;
  fit.sigma_ns = std::hypot(inner.sigma_ns, outer.sigma_ns);
  fit.operations = std::min(inner.operations, outer.operations);
  // Inside of what both have.
  const auto on_inner = [&](TimeNs time) {
    return time == kAlways.start || time == kAlways.end
               ? time
               : time - static_cast<TimeNs>(std::llround(inner.offset_ns));
  };
  fit.used = {std::max(inner.used.start, on_inner(outer.used.start)),
              std::min(inner.used.end, on_inner(outer.used.end))};
  if (fit.reason.empty()) fit.reason = outer.reason;
  return fit;
}

ClockFit Inverse(const ClockFit& fit) {
  ClockFit inverse = fit;
  inverse.reference = ToJob(fit, fit.reference);
  inverse.offset_ns = static_cast<double>(fit.reference - inverse.reference);
  inverse.drift = 1 / (1 + fit.drift) - 1;
  inverse.used = {ToJob(fit, fit.used.start), ToJob(fit, fit.used.end)};
  return inverse;
}

std::vector<ClockFit> FitsFrom(std::size_t reference, std::size_t ranks,
                               const std::vector<ClockEdge>& edges) {
  std::vector<std::vector<ClockEdge>> leading(ranks);  // to the rank
  for (const ClockEdge& edge : edges) {
    leading[edge.to].push_back(edge);
    leading[edge.from].push_back({edge.to, edge.from, Inverse(edge.fit)});
  }
  std::vector<ClockFit> fits(ranks);
  std::vector<double> variance(ranks, std::numeric_limits<double>::infinity());
  std::priority_queue<std::pair<double, std::size_t>> next;  // the least uncertain first
  fits[reference].aligned = true;
  fits[reference].operations = std::numeric_limits<std::size_t>::max();
  fits[reference].used = kAlways;
  variance[reference] = 0;
  next.emplace(0, reference);
  while (!next.empty()) {
    const auto [negative, rank] = next.top();
    next.pop();
    if (-negative > variance[rank]) continue;
    for (const ClockEdge& edge : leading[rank]) {
      const double through =
          variance[rank] + edge.fit.sigma_ns * edge.fit.sigma_ns + kEdgeSigmaNs * kEdgeSigmaNs;
      if (through >= variance[edge.from]) continue;
      variance[edge.from] = through;
      fits[edge.from] = Composed(fits[rank], edge.fit);
      fits[edge.from].aligned = true;
      next.emplace(-through, edge.from);
    }
  }
  return fits;
}

}  // namespace traceinject
