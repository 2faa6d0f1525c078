// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/build_report.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kNccl =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// Origin 1000. Compute [1000, 1600), communication [1500, 1500 + nccl_ns), idle until 2500, compute
// [2500, 3000).
Rank TrainingRank(int number, TimeNs nccl_ns) {
  RankBuilder builder;
  builder.rank().rank = number;
  builder.rank().path = "run.rank" + std::to_string(number) + ".db";
  builder.rank().health = {{"kernel", "seen", 3, ""}, {"kernel", "stored", 3, ""}};
  const std::uint32_t communicator = builder.AddCommunicator(2, number, 0);
  const std::uint32_t first = builder.AddApi(900, 910, "cudaLaunchKernel");
  builder.AddCall({920, 990, "AllReduce", 4 << 20, communicator});
  const std::uint32_t nccl = builder.AddApi(950, 960, "cudaLaunchKernelExC");
  builder.AddApi(1000, 2200, "cudaStreamSynchronize");
  const std::uint32_t last = builder.AddApi(2300, 2310, "cudaLaunchKernel");
  builder.AddKernel(1000, 1600, kGemm, first);
  builder.AddKernel(1500, 1500 + nccl_ns, kNccl, nccl);
  builder.AddKernel(2500, 3000, kGemm, last);
  return builder.rank();
}

Run TwoRanks() {
  traceinject::Run run;
  run.base_ns = 1'700'000'000'000'000'000;
  run.ranks = {TrainingRank(0, 500), TrainingRank(1, 300)};
  return run;
}

TEST(BuildReportTest, DevicesAndRunAgree) {
  const Report report = BuildReport(TwoRanks(), {});
  ASSERT_EQ(report.devices_size(), 2);
  EXPECT_EQ(report.sources_size(), 2);
  const proto::Partition& first = report.devices(0).partition();
  EXPECT_EQ(report.devices(0).label(), "rank 0 GPU 0");
  EXPECT_EQ(first.wall_ns(), 2000);
  EXPECT_EQ(first.compute_ns(), 1100);
  EXPECT_EQ(first.exposed_communication_ns(), 400);
  EXPECT_EQ(first.idle_ns(), 500);
  EXPECT_DOUBLE_EQ(first.overlap_share(), 0.2);
  const proto::Partition& sum = report.run().partition();
  EXPECT_EQ(sum.wall_ns(), 4000);
  EXPECT_EQ(sum.exposed_communication_ns(), 400 + 200);
  EXPECT_EQ(
      sum.compute_ns() + sum.exposed_communication_ns() + sum.exposed_copy_ns() + sum.idle_ns(),
      sum.wall_ns());
  EXPECT_DOUBLE_EQ(report.run().idle_share().min(), 0.25);
  EXPECT_DOUBLE_EQ(report.run().idle_share().max(), 0.35);
  EXPECT_DOUBLE_EQ(report.run().idle_share().median(), 0.3);
  EXPECT_EQ(report.run().idle_share().max_at(), "rank 1 GPU 0");
  EXPECT_DOUBLE_EQ(report.run().busy_share().min(), 0.65);
  EXPECT_EQ(report.run().busy_share().min_at(), "rank 1 GPU 0");
}

TEST(BuildReportTest, TimesAreRelativeToTheFirstOperation) {
  const Report report = BuildReport(TwoRanks(), {});
  EXPECT_EQ(report.run().origin_unix_ns(), 1'700'000'000'000'001'000);
  EXPECT_EQ(report.run().window().start_ns(), 0);
  EXPECT_EQ(report.run().window().end_ns(), 2000);
  ASSERT_EQ(report.devices(0).longest_gaps_size(), 1);
  const proto::Gap& gap = report.devices(0).longest_gaps(0);
  EXPECT_EQ(gap.start_ns(), 1000);
  EXPECT_EQ(gap.duration_ns(), 500);
  EXPECT_EQ(gap.launch_start_ns(), 1300);
  EXPECT_EQ(gap.cause(), proto::Gap::CAUSE_HOST_LATE);
  EXPECT_EQ(gap.ended_by(), kGemm);
  EXPECT_EQ(gap.thread(), 100);
  ASSERT_EQ(gap.activities_size(), 1);
  EXPECT_EQ(gap.activities(0).name(), "cudaStreamSynchronize");
  EXPECT_EQ(gap.activities(0).overlap_ns(), 200);
}

TEST(BuildReportTest, KernelsClassesAndNccl) {
  const Report report = BuildReport(TwoRanks(), {});
  const proto::DeviceReport& device = report.devices(0);
  EXPECT_EQ(device.kernels().count(), 3);
  EXPECT_EQ(device.top_kernels(0).name(), kGemm);
  EXPECT_EQ(device.top_kernels(0).total_ns(), 1100);
  EXPECT_DOUBLE_EQ(device.top_kernels(0).mean_ns(), 550);
  EXPECT_DOUBLE_EQ(device.top_kernels(0).share(), 1100.0 / 1600);
  EXPECT_EQ(device.top_kernels(0).shape().block(0), 128);
  ASSERT_EQ(device.nccl().rows_size(), 1);
  EXPECT_EQ(device.nccl().linked_kernels(), 1);
  const proto::NcclRow& row = report.run().nccl().rows(0);
  EXPECT_EQ(row.count(), 2);
  EXPECT_EQ(row.kernel_ns(), 800);
  EXPECT_EQ(row.transfer_ns(), 600);  // twice the shorter one
  EXPECT_DOUBLE_EQ(row.busbw_gb_per_s(), static_cast<double>(8 << 20) / 800);
  EXPECT_EQ(report.run().kernels().count(), 6);
  EXPECT_EQ(report.run().top_kernels(0).count(), 4);
  EXPECT_EQ(report.run().join().share(), 1);
  EXPECT_EQ(report.health().grade(), proto::Health::GRADE_GOOD);
}

TEST(BuildReportTest, LinkedKernelsAreThoseOfTheWindow) {
  RankBuilder builder;
  builder.AddCall({0, 100, "AllReduce", 4 << 20, builder.AddCommunicator(2, 0, 0)});
  const std::uint32_t first = builder.AddApi(10, 15, "cudaLaunchKernelExC");
  const std::uint32_t second = builder.AddApi(20, 25, "cudaLaunchKernelExC");
  builder.AddKernel(1000, 1100, kNccl, first);
  builder.AddKernel(2000, 2100, kNccl, second);  // of the same call
  traceinject::Run run;
  run.ranks = {builder.rank()};
  ReportOptions options;
  EXPECT_EQ(BuildReport(run, options).run().nccl().linked_kernels(), 2);
  options.limits.to_ns = 500;
  const Report cut = BuildReport(run, options);
  EXPECT_EQ(cut.run().nccl().kernels(), 1);
  EXPECT_EQ(cut.run().nccl().linked_kernels(), 1);
}

TEST(BuildReportTest, FromAndToCut) {
  ReportOptions options;
  options.limits = {.from_ns = 100, .to_ns = 1200};
  const Report report = BuildReport(TwoRanks(), options);
  EXPECT_TRUE(report.run().window().restricted());
  EXPECT_EQ(report.devices(0).partition().wall_ns(), 1100);
  EXPECT_EQ(report.devices(0).partition().compute_ns(), 500);
  EXPECT_EQ(report.devices(0).kernels().count(), 1);  // counted where they start
}

TEST(BuildReportTest, ProcessesOfOneRankAreToldApart) {
  traceinject::Run run = TwoRanks();
  run.ranks[1].rank = 0;
  run.ranks[0].process.pid = 10;
  run.ranks[1].process.pid = 11;
  run.ranks[1].closed = false;
  const Report report = BuildReport(run, {});
  EXPECT_EQ(report.devices(0).label(), "rank 0 pid 10 GPU 0");
  EXPECT_EQ(report.devices(1).label(), "rank 0 pid 11 GPU 0");
  EXPECT_EQ(report.run().idle_share().max_at(), "rank 0 pid 11 GPU 0");
  ASSERT_EQ(report.health().reasons_size(), 1);
  EXPECT_EQ(report.health().reasons(0).find("rank 0 pid 11: the process was killed"), 0u);
}

TEST(BuildReportTest, OperationsWithoutLengthAreNoChosenTime) {
  RankBuilder builder;
  builder.AddKernel(5, 5, kGemm);
  traceinject::Run run;
  run.ranks = {builder.rank()};
  const Report report = BuildReport(run, {});
  ASSERT_EQ(report.notes_size(), 1);
  EXPECT_EQ(report.notes(0), "GPU 0 (NVIDIA H200): its operations took no measurable time.");
}

TEST(BuildReportTest, OneProcessWithTwoDevicesHasTwoPartitions) {
  RankBuilder builder;
  builder.AddDevice("NVIDIA H200");
  builder.AddDevice("NVIDIA H200");  // seen but not used
  builder.AddKernel(0, 100, kGemm, kNone, 0);
  builder.AddKernel(300, 500, kGemm, kNone, 1);
  builder.AddKernel(600, 700, kGemm, kNone, 1);
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const Report report = BuildReport(run, {});
  ASSERT_EQ(report.devices_size(), 2);
  EXPECT_EQ(report.devices(0).label(), "GPU 0");
  EXPECT_EQ(report.devices(0).partition().wall_ns(), 100);
  EXPECT_EQ(report.devices(1).partition().wall_ns(), 400);
  EXPECT_EQ(report.devices(1).partition().idle_ns(), 100);
  EXPECT_EQ(report.run().partition().wall_ns(), 500);
  EXPECT_FALSE(report.run().join().has_share());
  EXPECT_EQ(report.run().join().reason(), "no CUDA calls were recorded");
}

TEST(BuildReportTest, CaptureGapsInTheWindowAreNamed) {
  traceinject::Run run;
  run.ranks.push_back(TrainingRank(0, 500));
  run.ranks[0].gaps = {{2000, kOpen, "max_size"}, {9000, 9100, "elsewhere"}};
  const Report report = BuildReport(run, {});
  ASSERT_EQ(report.devices(0).capture_gaps_size(), 1);
  EXPECT_EQ(report.devices(0).capture_gaps(0).start_ns(), 1000);
  EXPECT_EQ(report.devices(0).capture_gaps(0).end_ns(), 2000);
  EXPECT_EQ(report.health().grade(), proto::Health::GRADE_LOSSY);
}

// With TRACEINJECT_DETACH, launches are recorded in the first part only.
TEST(BuildReportTest, PartsWithoutLaunchesSpoilNotTheOneThatIsReported) {
  traceinject::Run run;
  RankBuilder builder;
  builder.rank() = TrainingRank(0, 500);
  builder.AddKernel(9000, 9500, kGemm);
  run.ranks.push_back(builder.rank());
  run.ranks[0].trust.links = 3;
  EXPECT_EQ(BuildReport(run, {}).trust().findings(0).name(), "without_call");
  EXPECT_GT(BuildReport(run, {}).trust().withheld_size(), 0);
  run.ranks[0].gaps = {{3000, 8500, "window"}};
  run.ranks[0].devices[0].ops.planned_gaps = {{3000, 8500}};
  const Report report = BuildReport(run, {});
  EXPECT_EQ(report.trust().findings_size(), 0);
  EXPECT_EQ(report.trust().withheld_size(), 0);
  EXPECT_EQ(report.run().join().joined(), 3);
}

TEST(BuildReportTest, ChosenDevicesAloneAreSummedUp) {
  ReportOptions options;
  options.devices.rank = 1;
  const Report report = BuildReport(TwoRanks(), options);
  ASSERT_EQ(report.devices_size(), 1);
  EXPECT_EQ(report.devices(0).label(), "rank 1 GPU 0");
  EXPECT_EQ(report.run().partition().wall_ns(), report.devices(0).partition().wall_ns());
  EXPECT_EQ(report.run().kernels().count(), 3);
  // What the other rank tells of the transfer still counts.
  ASSERT_EQ(report.run().nccl().rows_size(), 1);
  EXPECT_TRUE(report.run().nccl().rows(0).has_transfer_ns());
  options.devices.ordinal = 1;
  EXPECT_EQ(BuildReport(TwoRanks(), options).devices_size(), 0);
}

TEST(BuildReportTest, WhatIsWrongWithDevicesThatAreLeftOutSpoilsNoSum) {
  traceinject::Run run = TwoRanks();
  run.ranks[1].trust.links = 2;
  run.ranks[1].devices[0].ops.launch = {kNone, 1, 3};
  EXPECT_EQ(BuildReport(run, {}).run().nccl().rows_size(), 0);
  ReportOptions options;
  options.devices.rank = 0;
  const Report report = BuildReport(run, options);
  EXPECT_EQ(report.run().nccl().rows_size(), 1);
  EXPECT_GT(report.trust().withheld_size(), 0);  // told nevertheless
  options.devices.rank = 1;
  EXPECT_EQ(BuildReport(run, options).run().nccl().rows_size(), 0);
}

TEST(BuildReportTest, CausesOfAGapAddUpToIt) {
  ReportOptions options;
  EXPECT_EQ(BuildReport(TwoRanks(), options).devices(0).longest_gaps(0).causes_size(), 0);
  options.gap_causes = true;
  const Report report = BuildReport(TwoRanks(), options);
  for (const proto::DeviceReport& device : report.devices()) {
    ASSERT_GT(device.longest_gaps_size(), 0);
    for (const proto::Gap& gap : device.longest_gaps()) {
      std::int64_t sum = 0, last = gap.duration_ns();
      for (const proto::IdlePart& part : gap.causes()) {
        EXPECT_LE(part.ns(), last);
        last = part.ns();
        sum += part.ns();
      }
      EXPECT_EQ(sum, gap.duration_ns());
    }
  }
  // [2000, 2200) in a wait that let the device run dry, which delays what follows.
  EXPECT_EQ(report.devices(0).longest_gaps(0).causes(0).cause(), "drained by sync");
}

TEST(BuildReportTest, RangesOfAllProcessesWhereAskedFor) {
  traceinject::Run run = TwoRanks();
  for (Rank& rank : run.ranks) {
    RankBuilder range;
    range.AddRange({890, 1000, "forward"});
    rank.nvtx = range.rank().nvtx;
    rank.nvtx_domains = range.rank().nvtx_domains;
    rank.nvtx.text[0] = static_cast<std::uint32_t>(rank.strings.size());
    rank.strings.push_back("forward");
  }
  ReportOptions options;
  EXPECT_EQ(BuildReport(run, options).nvtx_ranges_size(), 0);
  options.nvtx_ranges = true;
  const Report report = BuildReport(run, options);
  ASSERT_EQ(report.nvtx_ranges_size(), 2);
  EXPECT_EQ(report.nvtx_ranges(0).name(), "forward");
  EXPECT_EQ(report.nvtx_ranges(0).count(), 2);
  EXPECT_EQ(report.nvtx_ranges(0).gpu_total_ns(), 600 + 500 + 600 + 300);
  EXPECT_TRUE(report.nvtx_ranges(1).outside());
  EXPECT_EQ(report.nvtx_ranges(1).gpu_self_ns(), 1000);
}

TEST(BuildReportTest, EmptyRunsHaveANoteAndNoFigures) {
  const Report empty = BuildReport(traceinject::Run{}, {});
  EXPECT_EQ(empty.devices_size(), 0);
  ASSERT_EQ(empty.notes_size(), 1);
  EXPECT_EQ(empty.notes(0), "The run contains no GPU operation.");

  ReportOptions late;
  late.limits.from_ns = 1'000'000;
  const Report nothing = BuildReport(TwoRanks(), late);
  EXPECT_EQ(nothing.devices_size(), 0);
  EXPECT_EQ(nothing.notes(0),
            "rank 0 GPU 0 (NVIDIA H200) did no GPU work in the selected time; its work lies "
            "between 0 ns and 2.000 us.");
}

TEST(BuildReportTest, PeaksOnlyForKnownGpus) {
  traceinject::Run run = TwoRanks();
  run.ranks[1].devices[0].name = "Some GPU";
  const Report report = BuildReport(run, {});
  EXPECT_EQ(report.devices(0).peaks().bf16_tflops(), 989);
  EXPECT_FALSE(report.devices(1).has_peaks());
}

TEST(BuildReportTest, NamesThatAreNotUtf8DoNotBreakTheMessage) {
  RankBuilder builder;
  builder.AddKernel(0, 10, "k\xFF\x1b[2J");
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const Report report = BuildReport(run, {});
  EXPECT_EQ(report.devices(0).top_kernels(0).name(), "k\xEF\xBF\xBD [2J");
  Report read_back;
  EXPECT_TRUE(read_back.ParseFromString(report.SerializeAsString()));
}

TEST(BuildReportTest, AttentionSamplesAndMemory) {
  RankBuilder builder;
  AttentionShape shape;
  shape.batch = shape.heads = shape.kv_heads = 1;
  shape.query_length = shape.key_length = 10;
  shape.head_size = shape.value_head_size = 5;
  for (TimeNs t = 0; t < 50'000; t += 10'000) {
    const auto launch = builder.AddApi(t + 310, t + 320, "cudaLaunchKernel");
    builder.AddAttention(t + 300, t + 400, shape);
    builder.AddKernel(t + 2000, t + 3000, "flash_fwd_kernel", launch);
    builder.AddKernel(t + 3000, t + 4000, kGemm);
    builder.AddDataWait(t + 10, t + 20, 0, 0, 8);
    builder.rank().data_waits.batch.back() = t / 10'000;
    builder.AddStepMark(t + 9'950);
  }
  builder.rank().loaders.emplace_back();
  AllocatorSamples& allocator = builder.rank().devices[0].allocator;
  allocator.time.push_back(5);
  for (auto* column : {&allocator.allocated_bytes, &allocator.reserved_bytes,
                       &allocator.active_bytes, &allocator.ooms}) {
    column->push_back(-1);
  }
  allocator.peak_allocated_bytes.push_back(7);
  allocator.peak_reserved_bytes.push_back(9);
  allocator.retries.push_back(2);
  traceinject::Run run;
  run.ranks = {builder.rank()};
  const Report report = BuildReport(run, {});
  const proto::MatrixProducts& products = report.run().matrix_products();
  ASSERT_EQ(report.scope().steps(), 4) << "what is before the first mark is no step";
  EXPECT_EQ(products.attention().calls(), 4);
  EXPECT_EQ(products.attention().linked_calls(), 4);
  EXPECT_DOUBLE_EQ(products.attention().flops(), 4 * 2.0 * 100 * 10);
  EXPECT_DOUBLE_EQ(products.flops_per_step(), 2.0 * 100 * 10);
  EXPECT_DOUBLE_EQ(products.unknown_share(), 0.5) << "products that no call claims";
  EXPECT_DOUBLE_EQ(report.run().samples().per_step(), 8);
  EXPECT_DOUBLE_EQ(report.devices(0).samples().per_second(), 8 / 10e-6);
  EXPECT_EQ(report.devices(0).allocator().peak_allocated_bytes(), 7);
  EXPECT_EQ(report.devices(0).allocator().peak_reserved_bytes(), 9);
  EXPECT_EQ(report.devices(0).allocator().retries(), 2);
  EXPECT_FALSE(report.devices(0).allocator().has_ooms()) << "unknown";
}

}  // namespace
}  // namespace traceinject
