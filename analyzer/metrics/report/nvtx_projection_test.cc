// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/nvtx_projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr Interval kAlways{-1'000'000, 1'000'000};

std::vector<NvtxRangeWork> Project(const Rank& rank, Interval window = kAlways,
                                   bool restricted = false) {
  std::vector<ProjectedDevice> devices;
  for (const Device& device : rank.devices)
    devices.push_back({&device, {StartingIn(device.ops, window)}, {window}, restricted});
  NvtxProjector projector;
  projector.Add(rank, devices);
  return projector.Finish();
}

NvtxRangeWork Find(const std::vector<NvtxRangeWork>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const NvtxRangeWork& row) { return row.name == name; });
  return found == rows.end() ? NvtxRangeWork{} : *found;
}

TEST(NvtxProjectionTest, WorkBelongsToTheRangesAroundItsLaunch) {
  RankBuilder builder;
  builder.AddRange({0, 100, "step 1"});
  builder.AddRange({10, 50, "forward"});
  builder.AddKernel(200, 230, "a", builder.AddApi(20, 25, "cudaLaunchKernel"));
  builder.AddKernel(300, 310, "b", builder.AddApi(49, 60, "cudaLaunchKernel"));
  builder.AddKernel(400, 405, "c", builder.AddApi(50, 55, "cudaLaunchKernel"));
  builder.AddMemset(500, 507, 8, builder.AddApi(99, 101, "cudaMemsetAsync"));
  builder.AddKernel(600, 601, "d", builder.AddApi(100, 105, "cudaLaunchKernel"));
  const auto rows = Project(builder.rank());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "step N");
  EXPECT_EQ(rows[0].total.gpu_ns, 30 + 10 + 5 + 7);
  EXPECT_EQ(rows[0].self.gpu_ns, 5 + 7);
  EXPECT_EQ(rows[0].total.kernels, 3);
  EXPECT_EQ(rows[0].self.kernels, 1);
  EXPECT_EQ(rows[0].host_total_ns, 100);
  EXPECT_EQ(rows[0].host_self_ns, 60);
  EXPECT_EQ(rows[1].name, "forward");
  EXPECT_EQ(rows[1].total.gpu_ns, 40);
  EXPECT_EQ(rows[1].self.gpu_ns, 40);
  EXPECT_TRUE(rows[2].outside);
  EXPECT_EQ(rows[2].self.gpu_ns, 1);
}

TEST(NvtxProjectionTest, OtherThreadsDoNotCount) {
  RankBuilder builder;
  builder.AddRange({0, 100, "backward"});
  builder.AddKernel(200, 230, "a", builder.AddApi(20, 25, "cudaLaunchKernel", 1));
  builder.AddKernel(300, 310, "b");  // its launch was not recorded
  const auto rows = Project(builder.rank());
  EXPECT_EQ(Find(rows, "backward").total.gpu_ns, 0);
  EXPECT_EQ(Find(rows, "(in no range)").self.gpu_ns, 30);
  EXPECT_EQ(Find(rows, "(launch not recorded)").self.gpu_ns, 10);
}

TEST(NvtxProjectionTest, RangesOfOneNameShareTheirWork) {
  RankBuilder builder;
  builder.AddRange({0, 100, "layer"});
  builder.AddRange({10, 50, "layer"});
  builder.AddRange({40, 120, "layer", "", 0, NvtxKind::kStartEnd});
  builder.AddKernel(200, 230, "a", builder.AddApi(45, 46, "cudaLaunchKernel"));
  const auto rows = Project(builder.rank());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 3);
  EXPECT_EQ(rows[0].total.gpu_ns, 30);
  EXPECT_EQ(rows[0].self.gpu_ns, 30);
  EXPECT_EQ(rows[0].host_total_ns, 120);
}

TEST(NvtxProjectionTest, AWindowTakesTheRangesOfItsWork) {
  RankBuilder builder;
  builder.AddRange({0, 50, "early"});
  builder.AddRange({50, 90, "late"});
  builder.AddRange({90, 95, "before the window"});
  builder.AddRange({210, 220, "in the window"});
  builder.AddKernel(100, 110, "a", builder.AddApi(10, 20, "cudaLaunchKernel"));
  builder.AddKernel(200, 230, "b", builder.AddApi(60, 70, "cudaLaunchKernel"));
  const auto rows = Project(builder.rank(), {150, 300}, true);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "late");
  EXPECT_EQ(rows[0].total.gpu_ns, 30);
  EXPECT_EQ(rows[1].name, "in the window");
}

TEST(NvtxProjectionTest, NamesOfOneKind) {
  EXPECT_EQ(NvtxKindName("ProfilerStep#12"), "ProfilerStep#N");
  EXPECT_EQ(NvtxKindName("aten::mm, seq = 12, op_id = 4"), "aten::mm");
  EXPECT_EQ(NvtxKindName("aten::mm, op_id = 4"), "aten::mm");
  EXPECT_EQ(NvtxKindName("forward"), "forward");
  EXPECT_EQ(NvtxKindName(""), "(no name)");
}

TEST(NvtxProjectionTest, MarksAndEmptyRangesHoldNothing) {
  RankBuilder builder;
  builder.AddRange({20, 20, "mark", "", 0, NvtxKind::kMark});
  builder.AddRange({20, 20, "empty"});
  builder.AddKernel(200, 230, "a", builder.AddApi(20, 25, "cudaLaunchKernel"));
  const auto rows = Project(builder.rank());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].outside);
}

// Figures of one name, found by looking at every pair and at every moment.
class BruteForce {
 public:
  BruteForce(const Rank& rank, OpRange range) : rank_(rank), range_(range) {}

  bool Counts(std::uint32_t row) const {
    const GpuOps& ops = rank_.devices[0].ops;
    bool any = false, counted = false;
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (!Holds(row, op)) continue;
      any = true;
      counted |= op >= range_.begin && op < range_.end;
    }
    return counted || !any;
  }

  NvtxRangeWork Of(const std::string& name) const {
    NvtxRangeWork work;
    work.name = name;
    const NvtxRanges& nvtx = rank_.nvtx;
    for (std::uint32_t row = 0; row < nvtx.size(); ++row) {
      if (rank_.string(nvtx.text[row]) == name && Counts(row)) ++work.count;
    }
    const GpuOps& ops = rank_.devices[0].ops;
    for (std::size_t op = range_.begin; op < range_.end; ++op) {
      const LaunchedWork one{ops.end[op] - ops.start[op], 1, 1};
      const auto api = ops.launch[op];
      const auto open = OpenAt(rank_.api.thread[api], rank_.api.start[api]);
      if (std::any_of(open.begin(), open.end(),
                      [&](std::uint32_t row) { return rank_.string(nvtx.text[row]) == name; }))
        work.total += one;
      if (!open.empty() && rank_.string(nvtx.text[open.back()]) == name) work.self += one;
    }
    for (std::uint32_t thread = 0; thread < rank_.threads.size(); ++thread) {
      for (TimeNs t = 0; t < 400; ++t) {
        const auto open = OpenAt(thread, t);
        work.host_total_ns += std::any_of(open.begin(), open.end(), [&](std::uint32_t row) {
          return rank_.string(nvtx.text[row]) == name && Counts(row);
        });
        work.host_self_ns +=
            !open.empty() && rank_.string(nvtx.text[open.back()]) == name && Counts(open.back());
      }
    }
    return work;
  }

 private:
  bool Holds(std::uint32_t row, std::size_t op) const {
    const auto api = rank_.devices[0].ops.launch[op];
    const auto open = OpenAt(rank_.api.thread[api], rank_.api.start[api]);
    return std::find(open.begin(), open.end(), row) != open.end();
  }
  // The innermost last.
  std::vector<std::uint32_t> OpenAt(std::uint32_t thread, TimeNs t) const {
    const NvtxRanges& nvtx = rank_.nvtx;
    std::vector<std::uint32_t> open;
    for (std::uint32_t row = 0; row < nvtx.size(); ++row) {
      if (nvtx.thread[row] == thread && nvtx.start[row] <= t && t < nvtx.end[row])
        open.push_back(row);
    }
    std::stable_sort(open.begin(), open.end(), [&](std::uint32_t a, std::uint32_t b) {
      return nvtx.start[a] != nvtx.start[b] ? nvtx.start[a] < nvtx.start[b]
                                            : nvtx.end[a] > nvtx.end[b];
    });
    return open;
  }

  const Rank& rank_;
  OpRange range_;
};

TEST(NvtxProjectionTest, AsBruteForceFindsIt) {
  std::mt19937 random(7);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 60; ++round) {
    RankBuilder builder;
    std::vector<RankBuilder::Range> ranges;
    for (int i = any(0, 12); i > 0; --i) {
      const int start = any(0, 300);
      ranges.push_back({start, start + any(1, 90),
                        std::string(1, static_cast<char>('a' + any(0, 3))), "",
                        static_cast<std::uint32_t>(any(0, 1))});
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.start < b.start; });
    for (const auto& range : ranges) builder.AddRange(range);
    TimeNs gpu = 500;
    TimeNs sum = 0;
    for (int time = 0, i = any(0, 30); i > 0; --i) {
      time += any(0, 20);
      const auto api =
          builder.AddApi(time, time + 1, "cudaLaunchKernel", static_cast<std::uint32_t>(any(0, 1)));
      const TimeNs length = any(1, 50);
      builder.AddKernel(gpu, gpu + length, "k", api);
      gpu += length;
    }
    const GpuOps& ops = builder.ops();
    const bool restricted = round % 2 == 1;
    // Only of the operations: ranges without any count wherever they are.
    const Interval window{restricted ? 500 + any(0, 300) : 0, 100'000};
    const OpRange range = StartingIn(ops, window);
    const BruteForce expected(builder.rank(), range);
    for (std::size_t op = range.begin; op < range.end; ++op) sum += ops.end[op] - ops.start[op];
    const auto rows = Project(builder.rank(), window, false);
    TimeNs selves = 0;
    for (const NvtxRangeWork& row : rows) selves += row.self.gpu_ns;
    EXPECT_EQ(selves, sum);
    for (const char* name : {"a", "b", "c", "d"}) {
      const NvtxRangeWork want = expected.Of(name), got = Find(rows, name);
      EXPECT_EQ(got.count, want.count) << round << name;
      EXPECT_EQ(got.host_total_ns, want.host_total_ns) << round << name;
      EXPECT_EQ(got.host_self_ns, want.host_self_ns) << round << name;
      EXPECT_EQ(got.total.gpu_ns, want.total.gpu_ns) << round << name;
      EXPECT_EQ(got.self.gpu_ns, want.self.gpu_ns) << round << name;
      EXPECT_EQ(got.total.kernels, want.total.kernels) << round << name;
      EXPECT_EQ(got.self.kernels, want.self.kernels) << round << name;
    }
  }
}

}  // namespace
}  // namespace traceinject
