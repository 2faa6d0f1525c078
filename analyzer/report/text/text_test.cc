// SPDX-License-Identifier: Apache-2.0
// Golden tests: the whole text of a report. After a wanted change, run with
// TRACEINJECT_UPDATE_GOLDEN=1 and read the difference.
#include "analyzer/report/text/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/report/layout/text_layout.h"
#include "analyzer/report/testing/sample_runs.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_ranks.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

const TextOptions kFull{.full = true};

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(TRACEINJECT_TESTDATA) + "/" + name;
  if (std::getenv("TRACEINJECT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

void ExpectFits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), kTextWidth) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
  }
}

// With one space wherever a sentence was broken or indented.
std::string Unbroken(const std::string& text) {
  std::string joined;
  std::istringstream words(text);
  for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

TEST(TextTest, TwoRanks) {
  ReportOptions options;
  options.mfu.flops_per_step = 4e12;
  const std::string text = WriteText(BuildReport(SampleRun(), options), kFull);
  ExpectFits(text);
  ExpectGolden("two_ranks.txt", text);
}

TEST(TextTest, WhatWasSampledOfAGpu) {
  proto::Report report;
  report.mutable_run();
  proto::DeviceReport& device = *report.add_devices();
  device.set_label("rank 0 GPU 0");
  device.mutable_partition();
  proto::Telemetry& sampled = *device.mutable_telemetry();
  const auto set = [](proto::SampledFigure& figure, double least, double most) {
    figure.set_least(least);
    figure.set_most(most);
  };
  set(*sampled.mutable_sm_clock_mhz(), 1200, 1980);
  set(*sampled.mutable_power_w(), 100, 700);
  set(*sampled.mutable_temperature_c(), 30, 84);
  sampled.set_busy_sm_clock_mhz(1450);
  sampled.set_power_limit_w(700);
  sampled.set_busy_ns(1000);
  sampled.set_throttled_busy_ns(500);
  proto::Throttle& throttle = *sampled.add_throttled();
  throttle.set_reason("hardware thermal");
  throttle.set_busy_ns(500);
  sampled.add_throttled()->set_reason("sync boost");  // not while it was busy
  sampled.set_pcie_generation(5);
  sampled.set_pcie_width(8);
  sampled.mutable_nvlink_sent()->set_most_gb_per_s(28.44);
  const std::string text = WriteText(report, kFull);
  ExpectFits(text);
  const std::size_t start = text.find("  SM clock");
  ExpectGolden("telemetry.txt", text.substr(start, text.find("  never idle") - start));
}

TEST(TextTest, WhatIsAmissWithTheMachine) {
  proto::Report report;
  EXPECT_EQ(WriteText(report, kFull).find("Machine findings"), std::string::npos);
  proto::HygieneFinding& finding = *report.add_hygiene();
  finding.set_severity("warning");
  finding.set_text("rank 0 GPU 0: PCIe generation 5 x8 at best");
  finding.set_change("the seat of the card");
  finding.set_source("a manual");
  const std::string expected =
      "\n"
      "Machine findings\n"
      "  warning: rank 0 GPU 0: PCIe generation 5 x8 at best\n"
      "    try: the seat of the card\n"
      "        [a manual]\n";
  const std::string text = WriteText(report, kFull);
  EXPECT_NE(text.find(expected), std::string::npos) << text;
}

TEST(TextTest, HowNcclConnectsRanks) {
  proto::Report report;
  report.mutable_run();
  report.add_devices()->set_label("rank 0 GPU 0");
  proto::NcclTransport& known = *report.mutable_run()->mutable_nccl()->add_transports();
  known.set_communicator_size(2);
  known.set_communicators(3);
  known.set_ranks_told(2);
  known.set_nvls(true);
  for (const char* name : {"P2P/CUMEM", "NET/Socket"}) {
    proto::NcclPath& path = *known.add_paths();
    path.set_name(name);
    path.set_pairs(1);
    path.set_channels_min(2);
    path.set_channels_max(name[0] == 'P' ? 2 : 24);
  }
  report.mutable_run()->mutable_nccl()->add_transports()->set_communicators(1);
  const std::string text = WriteText(report, kFull);
  const std::size_t begin = text.find("  NCCL transports (from its log)");
  ASSERT_NE(begin, std::string::npos);
  const std::string expected =
      "  NCCL transports (from its log):\n"
      "  connected by    ranks  communicators  ranks reporting  pairs  channels\n"
      "  P2P/CUMEM           2              3                2      1         2\n"
      "  NET/Socket          2              3                2      1   2 to 24\n"
      "  nothing       unknown              1                0      -         -\n"
      "  Of 2 ranks: buffers for NVLink SHARP (NVLS) were allocated.\n";
  EXPECT_EQ(text.substr(begin, expected.size()), expected);
  ExpectFits(text);
}

TEST(TextTest, OneProcess) {
  traceinject::Run run = SampleRun();
  run.ranks.pop_back();
  const std::string text = WriteText(BuildReport(run, {}), kFull);
  ExpectFits(text);
  ExpectGolden("one_process.txt", text);
}

TEST(TextTest, DamagedRecording) {
  ReportOptions options;
  options.mfu = {.params = 1e9, .tokens_per_step = 1e4, .steps = 2};
  const std::string text = WriteText(BuildReport(DamagedRun(), options), kFull);
  ExpectFits(text);
  ExpectGolden("damaged.txt", text);
}

// Opens with the verdict.
// Without it the reader would look for the step that he sees in his own log.
TEST(TextTest, SaysWhatRecordingAdded) {
  TrainingPlan plan;
  plan.layers = 100;
  plan.kernel_ns = 2'000;
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  proto::Report report = BuildReportWithVerdict(run, {});
  EXPECT_NE(WriteText(report, kFull).find("recording overhead is about"), std::string::npos);
  report.mutable_verdict()->set_recording_ns(report.verdict().step_ns() / 200);
  EXPECT_EQ(WriteText(report, kFull).find("recording overhead is about"), std::string::npos);
}

TEST(TextTest, MemoryCallsAreShownWhereTheyWereRecorded) {
  traceinject::Run run = SampleRun();
  run.ranks.resize(1);
  EXPECT_EQ(WriteText(BuildReport(run, {}), kFull).find("Memory calls"), std::string::npos);
  MemoryOperations& memory = run.ranks[0].memory;
  memory.time = {12'000'000, 22'000'000};
  memory.device = {0, 0};
  memory.release = {false, true};
  memory.memory_kind = {3, 3};
  memory.bytes = {5'000'000, 5'000'000};
  memory.address = {16, 16};
  memory.correlation = {900, 901};
  const std::string text = WriteText(BuildReport(run, {}), kFull);
  EXPECT_NE(text.find("Memory calls"), std::string::npos) << text;
  EXPECT_NE(
      text.find("1 allocation of 5.000 MB on the GPU and 1 release, 0 ns in these calls; peak "
                "5.000 MB held"),
      std::string::npos)
      << text;
}

TEST(TextTest, SlowDataLoader) {
  TrainingPlan plan;
  plan.load_ns = 30'000'000;
  plan.upload_bytes = 20'000'000;
  traceinject::Run run;
  run.base_ns = 1'785'585'600'000'000'000;
  run.ranks = {SimulatedTraining(plan).rank()};
  run.ranks[0].loaders.emplace_back().batch_size = 64;
  const std::string text = WriteText(BuildReportWithVerdict(run, {}), kFull);
  ExpectFits(text);
  ExpectGolden("slow_data_loader.txt", text);
  EXPECT_EQ(text.rfind("verdict: Data loading (dataloader)", 0), 0U);
}

TEST(TextTest, NoVerdictSaysWhy) {
  traceinject::Run run = SampleRun();
  run.ranks.resize(1);
  run.ranks[0].health.push_back({"kernel", "dropped", 50, ""});
  const std::string text = WriteText(BuildReportWithVerdict(run, {}), kFull);
  EXPECT_EQ(text.rfind("verdict: Inconclusive\n  no verdict: ", 0), 0U) << text;
}

// What the verdict says of ranks is not said again.
TEST(TextTest, MemsetsThatWereLeftOut) {
  auto run = SampleRun();
  const std::string said = "memsets: not recorded from 8.423 s after the start";
  EXPECT_EQ(Unbroken(WriteText(BuildReport(run, {}), kFull)).find(said), std::string::npos);
  run.ranks[0].health.push_back({"memset", "left_out_ms", 9000, ""});
  run.ranks[1].health.push_back({"memset", "left_out_ms", 8423, ""});
  EXPECT_NE(Unbroken(WriteText(BuildReport(run, {}), kFull)).find(said), std::string::npos);
}

TEST(TextTest, AVerdictBetweenRanks) {
  const traceinject::Run run = RunOfRanks({{}, {.data_wait_ns = 4'000'000}});
  const std::string text = WriteText(BuildReportWithVerdict(run, {}), kFull);
  EXPECT_EQ(text.rfind("verdict: Data loading (dataloader) on rank 1\n", 0), 0U) << text;
  const std::size_t said = text.find("delays the other ranks");
  ASSERT_NE(said, std::string::npos) << text;
  EXPECT_EQ(text.find("delays the other ranks", said + 1), std::string::npos) << text;
  EXPECT_NE(text.find("straggler: see the verdict"), std::string::npos) << text;
  EXPECT_NE(text.find("- this rank's data loading: more DataLoader workers"), std::string::npos)
      << text;
}

TEST(TextTest, NothingRecorded) {
  const std::string text = WriteText(BuildReport(traceinject::Run{}, {}), kFull);
  ExpectGolden("nothing.txt", text);
}

TEST(TextTest, ColorsAreAddedAndNothingElse) {
  const Report report = BuildReport(SampleRun(), {});
  TextOptions colors = kFull;
  colors.color = true;
  std::string text = WriteText(report, colors);
  EXPECT_NE(text, WriteText(report, kFull));
  for (std::size_t at; (at = text.find('\033')) != std::string::npos;)
    text.erase(at, text.find('m', at) - at + 1);
  EXPECT_EQ(text, WriteText(report, kFull));
}

TEST(TextTest, FlopsOfAttentionAndWhatIsNotKnown) {
  Report report = BuildReport(SampleRun(), {});
  proto::MatrixProducts& products = *report.mutable_run()->mutable_matrix_products();
  proto::Attention& attention = *products.mutable_attention();
  attention.set_calls(24);
  attention.set_backward_calls(12);
  attention.set_linked_calls(20);
  attention.set_product_calls(1);
  attention.set_unknown_calls(2);
  attention.set_flops(3.5e12);
  attention.set_kernel_ns(7'000'000);
  products.set_flops_per_step(5e12);
  products.set_step_ns(20'000'000);
  products.set_peak_share(0.25);
  products.set_unknown_share(0.125);
  const std::string text = WriteText(report, kFull);
  ExpectFits(text);
  for (const char* expected :
       {"attention: 24 calls (12 backward), 20 of them linked to their kernels: 3.5 TFLOP",
        "1 attention call done as GEMMs", "FLOPs of 2 attention calls unknown",
        "known FLOPs per step: 5 TFLOP: hardware FLOPs utilization (HFU) at least 25.0 %",
        "12.5 % of the kernel time is in GEMMs"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << text;
  }
}

TEST(TextTest, WorkOfKernelsAndWhatTheirNamesShow) {
  Report report = BuildReport(SampleRun(), {});
  proto::Run& run = *report.mutable_run();
  proto::Kernel& kernel = *run.mutable_top_kernels(0);
  kernel.set_dtype("bf16");
  kernel.mutable_shape()->set_waves(1.5);
  kernel.mutable_shape()->set_occupancy_share(0.25);
  proto::KernelWork& work = *kernel.mutable_work();
  work.set_kernels(kernel.count() - 1);
  work.set_tflops_per_s(450.25);
  work.set_peak_share(0.455);
  work.set_bound("compute");
  work.set_above_ideal_ns(12'300'000);
  proto::KernelFinding& finding = *run.add_kernel_findings();
  finding.set_text("GEMMs with unaligned rows: 30.0 % of the kernel time");
  finding.set_example("void cutlass::Kernel<cutlass_80_gemm_align1>(int)");
  finding.set_above_ideal_ns(2'000'000);
  finding.set_setting("sizes of layers");
  finding.set_change("pad them");
  finding.set_source("docs.nvidia.com");
  const std::string text = WriteText(report, kFull);
  ExpectFits(text);
  const std::string unbroken = Unbroken(text);
  for (const char* expected :
       {"bf16, 450.2 TFLOP/s: 45.5 % of the peak, compute-bound, 12.30 ms above ideal (3 of 4)",
        "1.50 waves, occupancy 25.0 %", "Kernel findings",
        "- GEMMs with unaligned rows: 30.0 % of the kernel time; at most about 2.000",
        "mostly in Kernel", "sizes of layers: pad them [docs.nvidia.com]"}) {
    EXPECT_NE(unbroken.find(expected), std::string::npos) << expected << text;
  }
  work.clear_peak_share();
  work.set_peak_reason("139.0 % of the peak is impossible");
  EXPECT_NE(Unbroken(WriteText(report, kFull)).find("share of the peak withheld, 139.0 %"),
            std::string::npos);
}

TEST(TextTest, SamplesOfTheJobAndOfEachRank) {
  Report report = BuildReport(SampleRun(), {});
  const auto set = [](proto::Samples& samples, double per_step, double per_second) {
    samples.set_per_step(per_step);
    samples.set_per_second(per_second);
  };
  set(*report.mutable_run()->mutable_samples(), 64, 1600);
  set(*report.mutable_devices(0)->mutable_samples(), 32, 800);
  set(*report.mutable_devices(1)->mutable_samples(), 32, 800);
  const std::string text = WriteText(report, kFull);
  EXPECT_NE(
      text.find(
          "samples: 64 per step, 1600 per second; rank 0 32 per step, 800 per second, rank 1"),
      std::string::npos)
      << text;
}

TEST(TextTest, WhichStepsAndHowSure) {
  Report report;
  report.mutable_run();
  report.add_devices()->set_label("GPU 0");
  proto::DeviceSteps& steps = *report.add_steps();
  steps.set_label("GPU 0");
  steps.set_source("repeating work");
  steps.set_first(10);
  steps.set_count(11);
  steps.set_median_ns(20'000'000);
  steps.set_mad_ns(100'000);
  steps.set_judged(8);
  steps.set_judged_text("8 of 11 steps: 11..18");
  steps.set_numbered("step ");
  steps.set_judged_mean_ns(20'000'000);
  steps.set_judged_median_ns(19'000'000);
  steps.mutable_judged_sum()->set_length_ns(160'000'000);
  steps.mutable_judged_sum()->set_compute_ns(160'000'000);
  steps.set_confidence(0.9);
  const auto leave_out = [&](const char* kind, int count, std::int64_t total_ns) {
    proto::LeftOutSteps& left = *steps.add_left_out();
    left.set_kind(kind);
    left.set_count(count);
    left.set_total_ns(total_ns);
    left.set_reason("because");
  };
  leave_out("warm-up", 1, 60'000'000);
  leave_out("checkpoint", 2, 100'000'000);
  const std::string text = WriteText(report, kFull);
  EXPECT_NE(text.find("Mean step 20.00 ms over 8 of 11 steps: 11..18 of 'step N'\n"
                      "  11 steps (repeating work); median of the judged ones 19.00 ms"),
            std::string::npos)
      << text;
  // A number stays with its unit.
  EXPECT_NE(
      text.find("left out, 50.0 % of the time of all steps: 1 warm-up, 60.00 ms long (because); "
                "2 checkpoint,\n    50.00 ms on average (because)\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("compute  100.0 %  20.00 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("confidence 90.0 %"), std::string::npos) << text;
}

TEST(TextTest, WhatTheRecordedTimeWentInto) {
  TrainingPlan plan;
  plan.steps = 64;
  plan.layer = {{"gemm_fwd_kernel", 1'000'000}, {"gemm_bwd_kernel", 1'000'000}};
  plan.load_ns = 40'000'000;
  plan.evaluate_every = 16;
  plan.evaluated_batches = 4;
  plan.evaluate_load_ns = 30'000'000;
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  const Report report = BuildReportWithVerdict(run, {});
  EXPECT_NE(WriteText(report, {}).find("between regular steps: "), std::string::npos);
  const std::string text = WriteText(report, kFull);
  EXPECT_NE(text.find("between regular steps: "), std::string::npos) << text;
  EXPECT_NE(text.find("The recorded time of GPU 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  goodput "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  evaluation "), std::string::npos) << text;
  EXPECT_NE(text.find("the interval spans the scatter of the steps ("), std::string::npos) << text;
  ExpectFits(text);
}

TEST(TextTest, MemoryOfTheAllocator) {
  Report report = BuildReport(SampleRun(), {});
  proto::Allocator& allocator = *report.mutable_devices(0)->mutable_allocator();
  allocator.set_peak_allocated_bytes(12'000'000'000);
  allocator.set_peak_reserved_bytes(15'000'000'000);
  EXPECT_EQ(WriteText(report, kFull).find("to free memory"), std::string::npos);
  allocator.set_retries(3);
  allocator.set_ooms(1);
  const std::string text = WriteText(report, kFull);
  EXPECT_NE(
      text.find(
          "PyTorch memory: peak 12.00 GB in tensors, 15.00 GB reserved; 3 retries to free memory"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("out of memory 1 time"), std::string::npos) << text;
}

TEST(TextTest, WhatIsLeftOutIsSaid) {
  TextOptions options = kFull;
  options.gaps = 1;
  const std::string text = WriteText(BuildReport(SampleRun(), {}), options);
  EXPECT_NE(text.find("(1 more in --format json)"), std::string::npos) << text;
}

}  // namespace
}  // namespace traceinject
