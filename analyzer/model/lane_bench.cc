// SPDX-License-Identifier: Apache-2.0
// What a lane costs to build and, per frame, to ask what to draw, by number of events and by zoom.
#include <benchmark/benchmark.h>

#include <random>

#include "analyzer/model/lane.h"

namespace traceinject {
namespace {

constexpr double kWidthPx = 1920;

// Kernels of 1.5 to 18 us with gaps of 0.2 to 2.2 us, one in 20 000 followed by 5 ms of nothing.
LaneEvents Kernels(std::size_t count) {
  std::mt19937 random(1);
  std::uniform_int_distribution<TimeNs> length(1'500, 18'000), gap(200, 2'200);
  std::uniform_int_distribution<int> pause(0, 19'999);
  LaneEvents events;
  TimeNs time = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const TimeNs end = time + length(random);
    events.Add(time, end, i, InkOf(KernelClass::kGemm));
    time = end + gap(random) + (pause(random) == 0 ? 5'000'000 : 0);
  }
  return events;
}

void BuildLane(benchmark::State& state) {
  const LaneEvents events = Kernels(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    Lane lane(events);
    benchmark::DoNotOptimize(lane);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BuildLane)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

// range(0): events; range(1): the lane's time is shown divided by this.
void QueryLane(benchmark::State& state) {
  const Lane lane(Kernels(static_cast<std::size_t>(state.range(0))));
  const TimeNs last = lane.end(lane.size() - 1), span = last / state.range(1);
  const TimeNs start = (last - span) / 2;
  std::vector<LaneSpan> spans;
  for (auto _ : state) {
    lane.Query(start, start + span, static_cast<double>(span) / kWidthPx, spans);
    benchmark::DoNotOptimize(spans.data());
  }
  state.counters["spans"] = static_cast<double>(spans.size());
}
BENCHMARK(QueryLane)
    ->ArgsProduct({{1'000'000, 10'000'000}, {1, 10, 100, 1'000, 10'000, 100'000}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace traceinject
