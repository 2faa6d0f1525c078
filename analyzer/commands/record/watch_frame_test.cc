// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/watch_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "analyzer/common/units.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

proto::DeviceReport* AddDevice(proto::Report& report, const std::string& label, double exposed) {
  proto::DeviceReport* device = report.add_devices();
  device->set_label(label);
  device->mutable_partition()->set_wall_ns(10 * kSecond);
  device->mutable_partition()->set_busy_share(0.75);
  device->mutable_partition()->set_communication_ns(4 * kSecond);
  device->mutable_partition()->set_exposed_communication_share(exposed);
  return device;
}

proto::Report Job(int ranks) {
  proto::Report report;
  report.mutable_run()->set_origin_unix_ns(1'700'000'000 * kSecond);
  report.mutable_run()->mutable_window()->set_end_ns(10 * kSecond);
  report.mutable_run()->set_process_count(ranks);
  report.mutable_run()->set_device_count(ranks);
  report.mutable_health()->set_grade(proto::Health::GRADE_LOSSY);
  // The last rank waits least.
  for (int rank = 0; rank < ranks; ++rank)
    AddDevice(report, "rank " + std::to_string(rank) + " GPU 0", 0.4 - 0.004 * rank);
  return report;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

WatchFrame At(const proto::Report& report) {
  return {report, (1'700'000'000 + 11) * kSecond, 0, false};
}

TEST(WatchFrame, WhoWaitsLeastComesFirst) {
  const proto::Report report = Job(3);
  const auto lines = Lines(FrameText(At(report), {}));
  ASSERT_GE(lines.size(), 5u);
  EXPECT_NE(lines[0].find("the last 10.00 s of 3 processes on 3 GPUs, up to 1.000 s ago"),
            std::string::npos);
  EXPECT_EQ(lines[2].find("rank 2 GPU 0"), 0u);
  EXPECT_EQ(lines[4].find("rank 0 GPU 0"), 0u);
  EXPECT_NE(lines[2].find("75.0 %"), std::string::npos);
  EXPECT_NE(lines[2].find("40.0 %"), std::string::npos);
  EXPECT_NE(lines[2].find("39.2 %"), std::string::npos);
}

TEST(WatchFrame, WhatIsNotKnownIsNoNumber) {
  const proto::Report report = Job(1);
  const auto lines = Lines(FrameText(At(report), {}));
  EXPECT_NE(lines[2].find("  -  "), std::string::npos);
  EXPECT_NE(FrameJson(At(report)).find("\"step_ns\": null"), std::string::npos);
}

TEST(WatchFrame, HardwareCountersWhereTheyWereSampled) {
  proto::Report report = Job(1);
  EXPECT_EQ(FrameText(At(report), {}).find("tensor"), std::string::npos);
  EXPECT_NE(FrameJson(At(report)).find("\"tensor_active\": null"), std::string::npos);
  const auto measure = [&](const char* name, double share) {
    proto::MeasuredShare* one = report.mutable_devices(0)->mutable_measured_use()->add_values();
    one->set_name(name);
    one->set_share(share);
  };
  measure("tensor_active", 0.625);
  measure("dram_read", 0.25);
  measure("dram_write", 0.125);
  const auto lines = Lines(FrameText(At(report), {.columns = 120}));
  EXPECT_NE(lines[1].find("tensor    DRAM"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("62.5 %  37.5 %"), std::string::npos) << lines[2];
  EXPECT_EQ(lines[1].find("SMs"), std::string::npos) << "it is not known";
  EXPECT_NE(FrameJson(At(report)).find("\"dram_active\": 0.375"), std::string::npos);
}

TEST(WatchFrame, FiguresOfStepsAndOfTheCard) {
  proto::Report report = Job(1);
  proto::DeviceSteps* steps = report.add_steps();
  steps->set_label("rank 0 GPU 0");
  steps->set_judged_mean_ns(80'000'000);
  steps->set_judged(4);
  proto::IdlePart* part = steps->mutable_judged_sum()->add_idle();
  part->set_cause("data wait");
  part->set_ns(8'000'000);
  proto::Telemetry* card = report.mutable_devices(0)->mutable_telemetry();
  card->mutable_memory_used_bytes()->set_most(31e9);
  card->set_busy_sm_clock_mhz(1755);
  report.mutable_devices(0)->mutable_samples()->set_per_second(512);
  // One step for want of any: it would be the window's length.
  EXPECT_EQ(Lines(FrameText(At(report), {}))[2].find("80.00 ms"), std::string::npos);
  steps->set_confidence(0.9);
  const std::string row = Lines(FrameText(At(report), {}))[2];
  for (const char* shown : {"80.00 ms", "2.000 ms", "31.00 GB", "1755 MHz", "512"})
    EXPECT_NE(row.find(shown), std::string::npos) << shown;
  EXPECT_NE(FrameJson(At(report)).find("\"data_wait_ns\": 2000000"), std::string::npos);
}

TEST(WatchFrame, TheHottestLine) {
  proto::Report report = Job(2);
  EXPECT_EQ(FrameText(At(report), {}).find("hottest"), std::string::npos);
  EXPECT_NE(FrameJson(At(report)).find("\"hottest_place\": null, \"hottest_idle_ns\": null"),
            std::string::npos);
  proto::DeviceReport& device = *report.mutable_devices(1);
  device.set_code_steps(4);
  const auto add = [&](const char* place, bool own, int samples, std::int64_t host_ns) {
    proto::CodeRow& row = *device.add_code();
    row.set_place(place);
    row.set_own(own);
    row.set_samples(samples);
    row.set_host_ns(host_ns);
    return &row;
  };
  add("module.py:5 in __call__", false, 50, 500'000'000);
  add("train.py:41 in step", true, 9, 40'000'000);
  proto::CodeRow* load = add("train.py:7 in load", true, 1, 10'000'000);
  EXPECT_NE(FrameText(At(report), {})
                .find("hottest line: train.py:41 in step: 10.00 ms of host time, no GPU idle time"),
            std::string::npos);
  load->set_idle_ns(8'000'000);
  load->set_cause("python");
  proto::DeviceSteps* steps = report.add_steps();
  steps->set_label("rank 1 GPU 0");
  steps->set_confidence(0.9);
  EXPECT_NE(
      FrameText(At(report), {})
          .find("hottest line: train.py:7 in load: the GPU idles 2.000 ms per step there (python)"),
      std::string::npos);
  EXPECT_NE(FrameJson(At(report))
                .find("\"hottest_place\": \"train.py:7 in load\", \"hottest_idle_ns\": 2000000"),
            std::string::npos);
}

TEST(WatchFrame, AJobOfManyRanksFitsTheScreen) {
  const proto::Report report = Job(96);
  const std::string text = FrameText(At(report), {80, 24});
  const auto lines = Lines(text);
  EXPECT_LE(lines.size(), 24u);
  EXPECT_TRUE(std::all_of(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.size() <= 80; }));
  EXPECT_NE(text.find("more that wait longer for others"), std::string::npos);
  EXPECT_NE(text.find("rank 95 GPU 0"), std::string::npos);
  EXPECT_NE(text.find("verdict:"), std::string::npos);
  // All are there for programs.
  EXPECT_NE(FrameJson(At(report)).find("rank 0 GPU 0"), std::string::npos);
}

TEST(WatchFrame, HostileNamesSteerNoTerminal) {
  proto::Report report = Job(1);
  report.mutable_verdict()->set_label("dataloader");
  report.mutable_verdict()->add_evidence()->set_text("kernel \x1b[2J\x07 took long");
  report.mutable_devices(0)->set_label("rank 0\n\x1b]0;x");
  const std::string text = FrameText(At(report), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(Lines(FrameJson(At(report))).size(), 1u);
}

TEST(WatchFrame, NoWorkInThatTime) {
  proto::Report report = Job(0);
  EXPECT_NE(FrameText(At(report), {}).find("no GPU work"), std::string::npos);
}

TEST(WatchFrame, OnlyLossesAreAMatterOfHealth) {
  proto::Report report = Job(1);
  EXPECT_EQ(FrameText(At(report), {}).find("lost"), std::string::npos);
  report.mutable_health()->set_records_lost(3);
  EXPECT_NE(FrameText(At(report), {}).find("records lost: 3 of"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
