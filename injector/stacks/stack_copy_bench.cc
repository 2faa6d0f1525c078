// SPDX-License-Identifier: Apache-2.0
// What a native stack costs the thread that takes it, and the writer, by the depth of the stack.
#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "injector/base/ring.h"
#include "injector/stacks/native_stacks.h"
#include "injector/stacks/stack_copy.h"

namespace traceinject {
namespace {

[[gnu::noinline]] void AtDepth(std::int64_t depth, const std::function<void()>& call) {
  char room[160];
  benchmark::DoNotOptimize(&room);
  if (depth > 0)
    AtDepth(depth - 1, call);
  else
    call();
  benchmark::ClobberMemory();
}

std::string TakeLast() {
  std::string last;
  g_rings.DrainAll(
      [&](int, int, const EventHeader& event) {
        last.assign(reinterpret_cast<const char*>(&event), event.size);
      },
      [](int) {});
  return last;
}

void CopyOfAStack(benchmark::State& state) {
  AtDepth(state.range(0), [&] {
    int taken = 0;
    for (auto _ : state) {
      EmitStackCopy(3, 1, 2);
      if (++taken % 16 != 0) continue;
      state.PauseTiming();
      g_rings.DrainAll([](int, int, const EventHeader&) {}, [](int) {});
      state.ResumeTiming();
    }
  });
}
BENCHMARK(CopyOfAStack)->Arg(5)->Arg(20)->Arg(60);

void UnwindingOfACopy(benchmark::State& state) {
  std::string event;
  AtDepth(state.range(0), [&] {
    EmitStackCopy(3, 1, 2);
    event = TakeLast();
  });
  NativeStacks stacks(nullptr);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        stacks.Unwind(*reinterpret_cast<const NativeStackEvent*>(event.data())));
  }
}
BENCHMARK(UnwindingOfACopy)->Arg(5)->Arg(20)->Arg(60);

}  // namespace
}  // namespace traceinject

BENCHMARK_MAIN();
