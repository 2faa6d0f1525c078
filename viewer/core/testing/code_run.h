// SPDX-License-Identifier: Apache-2.0
// For tests: a run of which the lines of the program that the GPU waits for are known.
#pragma once

#include <memory>
#include <string>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "viewer/core/load/background_load.h"

namespace traceinject {

inline constexpr int kCodeSteps = 50;
inline constexpr TimeNs kCodeStepNs = 20'000'000;

// Steps of 20 ms: 12 ms in "load" of data.py:41, which calls numpy, 4 ms at train.py:10, then a
// launch and a kernel of 4 ms. A look every 5 ms. In step 30 it loads for 20 ms longer. A second
// thread waits all the time.
inline Rank MakeCodeRank() {
  RankBuilder builder;
  builder.rank().process.pid = builder.rank().threads[0].tid;
  builder.rank().facts.push_back({"stacks", "period_ns", "5000000", ""});
  const auto load = builder.AddStack({{"main", "/w/train.py", 9},
                                      {"load", "/w/data.py", 41},
                                      {"choice", "/usr/lib/python3/dist-packages/numpy/r.py", 5}});
  const auto train = builder.AddStack({{"main", "/w/train.py", 10}});
  const auto wait = builder.AddStack({{"wait", "/usr/lib/python3.12/threading.py", 7}});
  TimeNs start = 0;
  for (int step = 0; step < kCodeSteps; ++step) {
    const TimeNs loading = step == 30 ? 32 * kMs : 12 * kMs, launch = start + loading + 4 * kMs;
    for (TimeNs at = start + kMs; at < start + loading; at += 5 * kMs) builder.AddLook(at, load);
    builder.AddLook(start + loading + 2 * kMs, train);
    builder.AddLook(launch, wait, StackKind::kTimed, 0, 1);
    const auto call = builder.AddApi(launch, launch + 5'000, "cudaLaunchKernel");
    builder.AddKernel(launch + 10'000, launch + 4 * kMs + 10'000, "gemm", call);
    builder.AddStepMark(launch + 6'000);
    start = launch + 4 * kMs;
  }
  builder.rank().end = start + kMs;
  return builder.rank();
}

// The same as the viewer has it, with another path in the place of "/w/data.py".
inline std::unique_ptr<LoadedRun> MakeCodeRun(const std::string& data_py = "/w/data.py") {
  auto loaded = std::make_unique<LoadedRun>();
  loaded->run.ranks = {MakeCodeRank()};
  for (std::string& text : loaded->run.ranks[0].strings) {
    if (text == "/w/data.py") text = data_py;
  }
  loaded->rows = BuildRows(loaded->run);
  return loaded;
}

}  // namespace traceinject
