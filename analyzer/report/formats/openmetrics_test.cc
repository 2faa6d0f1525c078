// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/formats/openmetrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/report/formats/metric_table.h"
#include "analyzer/report/testing/sample_runs.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/labels.h"

namespace traceinject {
namespace {

std::string Written(const Report& report, MetricsDialect dialect = MetricsDialect::kOpenMetrics) {
  return WriteOpenMetrics(report, dialect);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The rules of the specification that a scraper refuses a page for.
void ExpectOpenMetrics(const std::string& text) {
  const std::regex type_line("# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (gauge|counter|info|stateset)");
  const std::regex unit_line("# UNIT ([a-zA-Z0-9_:]+) ([a-z]+)");
  const std::regex help_line("# HELP ([a-zA-Z0-9_:]+) (.+)");
  const std::regex sample_line(
      "([a-zA-Z0-9_:]+)(\\{([a-zA-Z_]+=\"([^\"\\\\\\n]|\\\\[\\\\\"n])*\"(,(?!\\}))?)+\\})? "
      "(-?[0-9.]+(e[+-]?[0-9]+)?)");
  std::set<std::string> families, series;
  std::string family, type;
  const std::vector<std::string> lines = Lines(text);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "# EOF");
  EXPECT_EQ(text.back(), '\n');
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::string& line = lines[i];
    std::smatch found;
    if (std::regex_match(line, found, type_line)) {
      family = found[1];
      type = found[2];
      EXPECT_TRUE(families.insert(family).second) << "two families of one name: " << family;
    } else if (std::regex_match(line, found, unit_line)) {
      EXPECT_EQ(found[1], family);
      EXPECT_TRUE(family.ends_with("_" + found[2].str())) << line;
      EXPECT_TRUE(type == "gauge" || type == "counter") << line;
    } else if (std::regex_match(line, found, help_line)) {
      EXPECT_EQ(found[1], family);
      EXPECT_EQ(found[2].str().find_first_of("\"\\"), std::string::npos) << line;
    } else if (std::regex_match(line, found, sample_line)) {
      const std::string suffix = type == "counter" ? "_total" : type == "info" ? "_info" : "";
      EXPECT_EQ(found[1], family + suffix);
      EXPECT_TRUE(series.insert(found[1].str() + found[2].str()).second)
          << "two samples of one series: " << line;
      EXPECT_EQ(type == "stateset", line.find(family + "=\"") != std::string::npos) << line;
    } else {
      ADD_FAILURE() << "no line of OpenMetrics: " << line;
    }
  }
}

std::string PageOf(const std::vector<const MetricLines*>& runs) {
  return WriteMetricPage(runs, MetricsDialect::kOpenMetrics);
}

TEST(OpenMetrics, FollowsTheSpecification) {
  for (const auto& run : {SampleRun(), DamagedRun(), traceinject::Run()})
    ExpectOpenMetrics(Written(BuildReportWithVerdict(run, {})));
  const MetricLines none = WriteNoMetricLines("");
  ExpectOpenMetrics(PageOf({&none}));
}

TEST(OpenMetrics, FiguresAreThoseOfTheReportInBaseUnits) {
  const Report report = BuildReportWithVerdict(SampleRun(), {});
  const std::string text = Written(report);
  const auto has = [&](const std::string& line) {
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\n" << text;
  };
  has("# UNIT traceinject_step_seconds seconds");
  const std::string labels = "{rank=\"1\",host=\"\",pid=\"4001\",gpu=\"0\"}";
  std::ostringstream busy;
  busy << "traceinject_gpu_busy_ratio" << labels << " ";
  const double share = report.devices(1).partition().busy_share();
  const std::size_t at = text.find(busy.str());
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_DOUBLE_EQ(std::stod(text.substr(at + busy.str().size())), share);
  has("traceinject_verdict{traceinject_verdict=\"" + report.verdict().label() + "\"} 1");
  has("traceinject_records_seen_total " + std::to_string(report.health().records_seen()));
}

TEST(OpenMetrics, CountersHaveTheNamesOfDcgmBesideOurs) {
  Report report = BuildReportWithVerdict(SampleRun(), {});
  proto::MeasuredUse& use = *report.mutable_devices(0)->mutable_measured_use();
  for (const auto& [name, share] : {std::pair("tensor_active", 0.375), std::pair("l2_hit", 0.5)}) {
    proto::MeasuredShare& value = *use.add_values();
    value.set_name(name);
    value.set_share(share);
  }
  use.set_peak_share(0.25);
  const std::string text = Written(report);
  ExpectOpenMetrics(text);
  for (const char* sample : {"gpu=\"0\",counter=\"tensor_active\",dcgm_field=\"DCGM_FI_PROF_PIPE_"
                             "TENSOR_ACTIVE\"} 0.375\n",
                             "gpu=\"0\",counter=\"l2_hit\",dcgm_field=\"\"} 0.5\n"})
    EXPECT_NE(text.find(sample), std::string::npos) << sample << text;
  EXPECT_NE(text.find("traceinject_measured_hfu_ratio{"), std::string::npos);
}

TEST(OpenMetrics, AStallCountsUntilItEnds) {
  Report report = BuildReportWithVerdict(SampleRun(), {});
  ASSERT_GE(report.sources_size(), 2);
  for (const int source : {0, 1}) {
    proto::Stall& stall = *report.add_stalls();
    stall.set_source(source);
    stall.set_length_ns(90'000'000'000);
    if (source == 0) stall.set_end_ns(1);
  }
  const std::string text = Written(report);
  for (const char* sample : {"stall_seconds{rank=\"0\",host=\"\",pid=\"4000\"} 0\n",
                             "stall_seconds{rank=\"1\",host=\"\",pid=\"4001\"} 90\n"})
    EXPECT_NE(text.find(sample), std::string::npos) << sample << text;
}

TEST(OpenMetrics, JobsShareAPageAndAreToldApart) {
  const Report report = BuildReportWithVerdict(SampleRun(), {});
  const MetricLines first = WriteMetricLines(report, {}, "a/1"),
                    second = WriteMetricLines(report, {}, "b\"2"),
                    unreadable = WriteNoMetricLines("c");
  const std::string text = PageOf({&first, &second, &unreadable});
  ExpectOpenMetrics(text);
  for (const char* sample :
       {"step_seconds{job=\"a/1\",rank=\"0\"", "step_seconds{job=\"b\\\"2\",rank=\"1\"",
        "recording_readable{job=\"a/1\"} 1\n", "recording_readable{job=\"c\"} 0\n"})
    EXPECT_NE(text.find(sample), std::string::npos) << sample << text;
  ExpectOpenMetrics(PageOf({}));
}

TEST(OpenMetrics, WhatIsKnownOfFilesIsThere) {
  Report report = BuildReportWithVerdict(SampleRun(), {});
  ASSERT_GE(report.sources_size(), 2);
  proto::RecordingCost& cost = *report.add_recording_costs();
  cost.set_source(1);
  cost.set_recorded_ns(10'000'000'000);
  cost.set_writer_cpu_ns(500'000'000);
  const MetricLines lines =
      WriteMetricLines(report, {.steps = 42, .files = {{.bytes = 512, .killed = true}, {}}}, "");
  const std::string text = PageOf({&lines});
  ExpectOpenMetrics(text);
  for (const char* sample :
       {"steps_total 42\n", "recording_bytes{rank=\"0\",host=\"\",pid=\"4000\"} 512\n",
        "process_killed{rank=\"0\",host=\"\",pid=\"4000\"} 1\n",
        "recorded_seconds_total{rank=\"1\",host=\"\",pid=\"4001\"} 10\n",
        "recorder_seconds_total{rank=\"1\",host=\"\",pid=\"4001\",where=\"writer\"} 0.5\n"})
    EXPECT_NE(text.find(sample), std::string::npos) << sample << text;
  EXPECT_EQ(text.find("process_killed{rank=\"1\""), std::string::npos);
}

TEST(OpenMetrics, WhatIsNotKnownIsNotThere) {
  const std::string text = Written(BuildReportWithVerdict(SampleRun(), {}));
  EXPECT_EQ(text.find("traceinject_mfu_ratio"), std::string::npos);
  EXPECT_EQ(text.find("traceinject_gpu_power_watts"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(OpenMetrics, HostileLabelsAreEscaped) {
  Report report = BuildReportWithVerdict(SampleRun(), {});
  report.mutable_sources(0)->set_host("a\"b\\c\nd\xff\x1b");
  const std::string text = Written(report);
  ExpectOpenMetrics(text);
  EXPECT_NE(text.find("host=\"a\\\"b\\\\c d\uFFFD \""), std::string::npos) << text;
}

TEST(OpenMetrics, ProcessesThatAreCalledAlikeAreToldApart) {
  auto run = SampleRun();
  for (Rank& rank : run.ranks) {
    rank.rank.reset();
    rank.process.pid = 1;
  }
  ExpectOpenMetrics(Written(BuildReportWithVerdict(run, {})));
}

// The textfile collector of node_exporter refuses other types than these.
TEST(OpenMetrics, TheOlderFormatHasItsTypesOnly) {
  const std::string text =
      Written(BuildReportWithVerdict(SampleRun(), {}), MetricsDialect::kPrometheus);
  const std::regex type_line("# TYPE (\\S+) (gauge|counter)");
  std::string family;
  for (const std::string& line : Lines(text)) {
    std::smatch found;
    EXPECT_FALSE(line.starts_with("# UNIT") || line.starts_with("# EOF")) << line;
    if (line.starts_with("# TYPE")) {
      ASSERT_TRUE(std::regex_match(line, found, type_line)) << line;
      family = found[1];
    } else if (!line.starts_with("#")) {
      EXPECT_TRUE(line.starts_with(family + " ") || line.starts_with(family + "{")) << line;
    }
  }
  EXPECT_NE(text.find("# TYPE traceinject_records_seen_total counter\n"), std::string::npos);
  EXPECT_NE(text.find("# TYPE traceinject_run_info gauge\n"), std::string::npos);
}

// report.proto tells which labels there are.
TEST(OpenMetrics, AllLabelsOfVerdictsAreStates) {
  std::stringstream proto;
  proto << std::ifstream(std::string(TRACEINJECT_TESTDATA) + "/../../../schemas/report.proto")
               .rdbuf();
  std::string comment = proto.str();
  const std::size_t from = comment.find("string label = 1;"),
                    to = comment.find("optional int64 saved_ns = 2;");
  ASSERT_LT(from, to);
  comment = comment.substr(from, to - from);
  for (const std::string_view label : kVerdictLabels)
    EXPECT_NE(comment.find(label), std::string::npos) << label;
}

TEST(OpenMetrics, TheTableTellsOfAllThatIsWritten) {
  const std::string table = MetricTable();
  for (const std::string& line : Lines(Written(BuildReportWithVerdict(SampleRun(), {})))) {
    if (!line.starts_with("# TYPE ")) continue;
    const std::string family = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_NE(table.find(family + " "), std::string::npos) << family;
  }
}

}  // namespace
}  // namespace traceinject
