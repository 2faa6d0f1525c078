// SPDX-License-Identifier: Apache-2.0
// For tests: a run of many events with random times that overlap, nest and may be without length,
// and a plain list of them to check answers against.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/view/rows/rows.h"

namespace traceinject {

struct KnownEvent {
  RowKind kind;
  std::uint32_t rank;
  std::string label;
  TimeNs start, end;
};

struct RandomRun {
  static constexpr TimeNs kLength = 1'000'000;

  Run run;
  RowModel model;
  std::vector<KnownEvent> events;

  // Two ranks, each with GPU operations on three streams, CUDA calls and NVTX ranges.
  explicit RandomRun(unsigned seed, int events_of_a_kind = 400) : random_(seed) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) AddRank(rank, events_of_a_kind);
    model = BuildRows(run);
  }

  TimeNs Below(TimeNs limit) {
    return std::uniform_int_distribution<TimeNs>(0, limit - 1)(random_);
  }

 private:
  std::vector<TimeNs> Starts(int count) {
    std::vector<TimeNs> starts;
    for (int i = 0; i < count; ++i) starts.push_back(Below(kLength));
    std::sort(starts.begin(), starts.end());
    return starts;
  }
  TimeNs Length() { return Below(TimeNs{1} << Below(16)); }

  void AddRank(std::uint32_t rank, int count) {
    RankBuilder builder;
    builder.rank().rank = static_cast<int>(rank);
    builder.rank().streams = {{0, 1, 7}, {0, 1, 13}, {0, 2, 7}};
    const auto know = [&](RowKind kind, const std::string& label, TimeNs start, TimeNs end) {
      events.push_back({kind, rank, label, start, end});
    };
    for (const TimeNs start : Starts(count)) {
      const TimeNs end = start + Length();
      const auto what = Below(6);
      builder.UseStream(static_cast<std::uint32_t>(Below(3)));
      if (what < 3) {
        // The same label from different kernels.
        const std::string label = what == 0 ? "gemm" : "norm";
        builder.AddKernel(start, end, "void " + label + (what == 2 ? "<float>" : "<int>") + "(int)",
                          kNone, 0, static_cast<std::int32_t>(1 + Below(2)));
        know(RowKind::kStream, label, start, end);
      } else if (what == 3) {
        builder.AddMemset(start, end, 8);
        know(RowKind::kStream, "memset", start, end);
      } else {
        const bool up = what == 4;
        builder.AddCopy(start, end, {.bytes = 8, .kind = static_cast<std::uint8_t>(up ? 1 : 2)});
        know(RowKind::kStream, up ? "host to device" : "device to host", start, end);
      }
    }
    for (const TimeNs start : Starts(count)) {
      const std::string name = Below(2) == 0 ? "cudaLaunchKernel" : "cudaMalloc";
      const TimeNs end = start + Length();
      builder.AddApi(start, end, name, static_cast<std::uint32_t>(Below(2)));
      know(RowKind::kCalls, name, start, end);
    }
    for (const TimeNs start : Starts(count)) {
      const std::string text = "Step " + std::to_string(Below(5));
      const TimeNs end = start + Length();
      builder.AddRange({start, end, text});
      know(RowKind::kNvtx, text, start, end);
    }
    builder.rank().end = 2 * kLength;
    run.ranks.push_back(builder.rank());
  }

  std::mt19937 random_;
};

}  // namespace traceinject
