// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/run/export_path.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

class ExportTest : public testing::Test {
 protected:
  ExportTest() {
    for (int rank = 0; rank < 2; ++rank) {
      RunDbFixture file(folder_ / ("run.rank0000" + std::to_string(rank) + ".db"),
                        {.pid = 100 + rank, .rank = rank, .world_size = 2, .views = true});
      file.AddDevice({});
      file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50, .name = "a, \"b\""}, 10, 5);
      file.Close();
    }
  }
  int Export(const std::string& output, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"export", folder_ / "run.db", "-o", folder_ / output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Analyze(arguments);
  }
  std::string Text(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  TemporaryFolder folder_;
};

TEST_F(ExportTest, TheNameOfTheOutputTellsTheFormat) {
  EXPECT_EQ(Export("t.pftrace"), kReported);
  EXPECT_EQ(Text("t.pftrace").front(), '\n') << "tag of the first packet";
  EXPECT_EQ(Export("t.prom"), kReported);
  EXPECT_TRUE(Text("t.prom").starts_with("# TYPE traceinject_run_info gauge\n"));
  EXPECT_EQ(Export("t.om"), kReported);
  EXPECT_TRUE(Text("t.om").ends_with("# EOF\n"));
  EXPECT_EQ(Export("t.csv", {"--table", "kernels"}), kReported);
  EXPECT_NE(Text("t.csv").find("\"a, \"\"b\"\"\""), std::string::npos);
  EXPECT_EQ(Export("other", {"--to", "openmetrics"}), kReported);
}

TEST_F(ExportTest, MetricsHoldModelFlopsUtilization) {
  EXPECT_EQ(Export("t.om", {"--flops-per-step", "1", "--step-count", "1", "--peak-tflops", "1"}),
            kReported);
  EXPECT_NE(Text("t.om").find("\ntraceinject_mfu_ratio "), std::string::npos);
}

TEST_F(ExportTest, ChromeTracesAreAFileARank) {
  EXPECT_EQ(Export("t.json.gz"), kReported);
  EXPECT_FALSE(fs::exists(folder_ / "t.json.gz"));
  for (const char* name : {"t.rank00000.json.gz", "t.rank00001.json.gz"}) {
    const auto run = LoadRun({folder_ / name}, {});
    ASSERT_TRUE(run.ok()) << run.error();
    EXPECT_EQ(run.value().ranks[0].devices[0].ops.size(), 1U);
  }
  EXPECT_EQ(Analyze({"export", folder_ / "run.rank00001.db", "-o", folder_ / "one.json"}),
            kReported);
  EXPECT_TRUE(fs::exists(folder_ / "one.json"));
}

TEST_F(ExportTest, TablesOfTheRecordingToo) {
  EXPECT_EQ(Export("t.csv", {"--table", "kernel_shape"}), kReported);
  EXPECT_TRUE(Text("t.csv").starts_with("rank,id,name,grid_x"));
  EXPECT_EQ(Export("t.csv", {"--table", "kernel"}), kReported);
  EXPECT_EQ(Text("t.csv"),
            "rank,start,dur,stream,shape,correlation,graph_node\r\n0,100,50,1,1,1,\r\n"
            "1,100,50,1,1,1,\r\n");
  EXPECT_EQ(Analyze({"export", folder_ / "run.rank00001.db", "-o", folder_ / "t.csv", "--table",
                     "kernel"}),
            kReported);
  EXPECT_EQ(Text("t.csv"), "start,dur,stream,shape,correlation,graph_node\r\n100,50,1,1,1,\r\n");
  EXPECT_EQ(Export("u.csv", {"--table", "kernels\"; DROP TABLE kernel; --"}), kUnreadable);
  EXPECT_FALSE(fs::exists(folder_ / "u.csv"));
}

TEST_F(ExportTest, EventsAsColumns) {
  EXPECT_EQ(Export("t.columns", {"--table", "kernels"}), kReported);
  EXPECT_TRUE(Text("t.columns").starts_with("TRJCOLS1"));
  EXPECT_NE(Text("t.columns").find("\"rows\": 2"), std::string::npos);
  EXPECT_NE(Text("t.columns").find("grid_x"), std::string::npos);
  EXPECT_EQ(Export("t.columns", {"--table", "kernels", "--columns", "name,dur_ns"}), kReported);
  EXPECT_EQ(Text("t.columns").find("grid_x"), std::string::npos);
  EXPECT_EQ(Export("t.columns", {"--table", "kernels", "--columns", "name,nothing"}), kBadUsage);
  EXPECT_EQ(Export("t.columns", {"--table", "kernel"}), kBadUsage) << "no table of events";
  EXPECT_EQ(Export("t.columns"), kBadUsage) << "which table?";
  EXPECT_EQ(Export("t.csv", {"--table", "kernels", "--columns", "name"}), kBadUsage);
}

TEST_F(ExportTest, ColumnsReadNoTableThatTheyDoNotNeed) {
  for (const char* host : {"node-a", "node-b"}) {
    RunDbFixture file(folder_ / (std::string("part_") + host + ".db"), {.host = host, .rank = 0});
    file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50}, 10, 5);
    file.Execute("DROP TABLE api");
    file.Execute("DROP TABLE nvtx");
    file.Close();
  }
  const auto export_kernels = [&](std::vector<std::string> paths, const char* columns) {
    std::vector<std::string> arguments = {
        "export", "-o", folder_ / "t.columns", "--table", "kernels", "--columns", columns};
    for (const std::string& path : paths) arguments.push_back(folder_ / path);
    return Analyze(arguments);
  };
  EXPECT_EQ(export_kernels({"part_node-a.db"}, "start_ns,name,registers,correlation"), kReported);
  EXPECT_EQ(export_kernels({"part_node-a.db"}, "start_ns,launch_tid"), kUnreadable);
  EXPECT_EQ(export_kernels({"part_node-a.db", "part_node-b.db"}, "start_ns"), kUnreadable)
      << "all is needed to align the clocks of two hosts";
}

TEST_F(ExportTest, AllEventsTellWhereTheClockWasSet) {
  constexpr TimeNs kMs = 1'000'000, kSetBy = 50 * kMs;
  {
    RunDbFixture file(folder_ / "set.db", {.end_ns = 3'000 * kMs});
    const auto as_set = [](TimeNs ms) { return ms * kMs + (ms > 1'500 ? kSetBy : 0); };
    // The GPU idles for longer than the clock was set by, and only ranges tell that it was not
    // then.
    for (const TimeNs at : {1'100, 1'400, 1'480, 1'520})
      file.AddKernel({.start_ns = as_set(at), .dur_ns = kMs});
    for (TimeNs at = 1'000; at < 2'000; at += 20) {
      if (at != 1'500) file.AddNvtx({.start_ns = as_set(at), .dur_ns = kMs});
    }
    for (TimeNs second = 0; second < 4; ++second)
      file.Execute(
          fmt::format("INSERT INTO clock_pair (proc, realtime, monotonic, monotonic_raw, boottime) "
                      "VALUES (1, {0}, {1}, {1}, {1})",
                      second * 1'000 * kMs + (second > 1 ? kSetBy : 0), second * 1'000 * kMs));
    file.Close();
  }
  ASSERT_EQ(Analyze({"export", folder_ / "set.db", "-o", folder_ / "t.columns", "--table",
                     "kernels", "--columns", "start_ns"}),
            kReported);
  std::vector<TimeNs> starts(4);
  const std::string bytes = Text("t.columns");
  std::memcpy(starts.data(), bytes.data() + bytes.size() - 4 * sizeof(TimeNs), 4 * sizeof(TimeNs));
  EXPECT_EQ(starts, (std::vector<TimeNs>{0, 300 * kMs, 380 * kMs, 420 * kMs}));
}

TEST_F(ExportTest, ARpdHoldsAllRanks) {
  EXPECT_EQ(Export("t.rpd"), kReported);
  const auto run = LoadRun({folder_ / "t.rpd"}, {});
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.value().ranks.size(), 2U);
  EXPECT_EQ(Analyze({"export", folder_ / "run.db", "--to", "rpd"}), kBadUsage) << "no stream";
  EXPECT_EQ(Analyze({"export", folder_ / "run.rank00001.db", "--to", "rpd", "-o",
                     folder_ / "run.rank00001.db"}),
            kUnreadable)
      << "over its own input";
}

TEST_F(ExportTest, ChakraTracesAreAFolder) {
  EXPECT_EQ(Export("t.chakra"), kReported);
  for (const char* name : {"trace.0.et", "trace.1.et", "trace.comm_groups.json"})
    EXPECT_GT(fs::file_size(folder_ / (std::string("t.chakra/") + name)), 0U) << name;
  EXPECT_EQ(Export("t.chakra"), kUnreadable) << "traces of another run lie there";
  EXPECT_EQ(Export("u.chakra", {"--steps", "7..8"}), kBadUsage) << "there are no steps";
  EXPECT_FALSE(fs::exists(folder_ / "u.chakra"));
  EXPECT_EQ(Export("t.pftrace", {"--steps", "1..2"}), kBadUsage);
}

TEST_F(ExportTest, WrongUsageIsToldApart) {
  EXPECT_EQ(Export("t.unknown"), kBadUsage);
  EXPECT_EQ(Export("t.csv"), kBadUsage) << "which table?";
  EXPECT_EQ(Export("t.pftrace", {"--table", "kernels"}), kBadUsage);
  EXPECT_EQ(Export("t", {"--to", "svg"}), kBadUsage);
  EXPECT_EQ(Analyze({"export"}), kBadUsage);
  EXPECT_EQ(Analyze({"export", folder_ / "run.db", "--to", "chrome"}), kBadUsage)
      << "two processes, one stdout";
  EXPECT_EQ(Analyze({"export", folder_ / "none.db", "-o", folder_ / "t.pftrace"}), kUnreadable);
  EXPECT_EQ(Export("no/such/folder/t.pftrace"), kUnreadable);
  EXPECT_EQ(Analyze({"export", "--list-metrics"}), kReported);
}

TEST(ExportPath, OfARank) {
  traceinject::Run run;
  run.ranks.resize(4);
  run.ranks[0].rank = 3;
  run.ranks[1].rank = 5;
  run.ranks[2].rank = 5;
  run.ranks[2].process.pid = 77;
  EXPECT_EQ(PathOfRank("a.b/trace.json.gz", run, 0), "a.b/trace.rank00003.json.gz");
  EXPECT_EQ(PathOfRank("trace.json", run, 0), "trace.rank00003.json");
  EXPECT_EQ(PathOfRank("a/trace", run, 0), "a/trace.rank00003");
  EXPECT_EQ(PathOfRank("a/.json", run, 0), "a/.json.rank00003");
  EXPECT_EQ(PathOfRank("t.json", run, 2), "t.pid77.2.json");
  EXPECT_NE(PathOfRank("t.json", run, 1), PathOfRank("t.json", run, 2));
  EXPECT_EQ(PathOfRank("t.json", run, 3), "t.pid0.3.json");
}

}  // namespace
}  // namespace traceinject
