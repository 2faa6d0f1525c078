// SPDX-License-Identifier: Apache-2.0
#include "analyzer/convert/import_run.h"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/testing/nsys_fixture.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/verdict/judged_report.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

// All that is reported, but for what names the file and its version.
proto::Report ReportOf(const std::vector<std::string>& paths) {
  auto run = LoadRun(paths, {});
  if (!run.ok()) throw std::runtime_error(run.error());
  for (Rank& rank : run.value().ranks) {
    for (std::string& note : run.value().notes) {
      if (const auto at = note.find(rank.path); at != std::string::npos)
        note.replace(at, rank.path.size(), "it");
    }
    rank.path = "it";
    rank.schema_version = 0;
    rank.tool_version.clear();
  }
  return BuildReportWithVerdict(run.value(), {});
}

void ExpectSameReport(const std::vector<std::string>& traces,
                      const std::vector<std::string>& recordings) {
  const proto::Report expected = ReportOf(traces), found = ReportOf(recordings);
  std::string differences;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(expected, found)) << differences;
}

class ImportRunTest : public testing::Test {
 protected:
  static std::string Event(const char* category, const std::string& name, int thread, double at_us,
                           double dur_us, const std::string& arguments = "") {
    return fmt::format(
        R"json({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, )json"
        R"json("dur": {:.3f}, "args": {{{}}}}},)json",
        category, name, thread == 7 ? 0 : thread, thread, at_us, dur_us, arguments);
  }
  static std::string Call(const char* name, double at_us, int id) {
    return Event("cuda_runtime", name, 9, at_us, 4.125, fmt::format("\"correlation\": {}", id));
  }
  static std::string Operation(const char* category, const std::string& name, double at_us,
                               double dur_us, int id) {
    return Event(category, name, 7, at_us, dur_us,
                 fmt::format("\"device\": 0, \"context\": 1, \"stream\": 7, \"bytes\": 4096, "
                             "\"grid\": [8, 1, 1], \"block\": [128, 1, 1], \"correlation\": {}",
                             id));
  }

  // A trace of five steps that wait for data, of a rank if it is not negative.
  std::string WriteTrace(const std::string& name, int rank) const {
    std::string text = "{\"baseTimeNanoseconds\": 1700000000000000000, ";
    if (rank >= 0)
      text += fmt::format("\"distributedInfo\": {{\"rank\": {}, \"world_size\": 2}}, ", rank);
    text += "\"traceEvents\": [";
    int id = 0;
    for (int step = 0; step < 5; ++step) {
      const double at = step * 10'000.0;
      text += Event("user_annotation", fmt::format("ProfilerStep#{}", step), 9, at, 9'900);
      text += Event("user_annotation",
                    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 9, at, 4'000);
      text += Call("cudaMemcpyAsync", at + 4'010, ++id);
      text += Operation("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at + 4'020, 300.5, id);
      for (int kernel = 0; kernel < 8; ++kernel) {
        // One cannot be right: it is repaired by whoever reads it.
        const double dur = step == 2 && kernel == 3 ? 40'000'000 : 500 + kernel;
        text += Call("cudaLaunchKernel", at + 4'400 + kernel * 600, ++id);
        text += Operation("kernel", fmt::format("gemm_{}", kernel % 3),
                          at + 4'410.25 + kernel * 600, dur, id);
      }
    }
    text +=
        R"json({"ph": "X", "cat": "kernel", "name": "left out", "pid": 0, "tid": 7, "dur": 1}]})json";
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }

  Result<Imported> Import(const std::vector<std::string>& paths, bool replace = false) const {
    return ImportRun(
        paths,
        {.output = folder_ / "run.db", .replace = replace, .tool_version = "1", .reading = {}});
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(ImportRunTest, ATraceAndItsRecordingReportTheSame) {
  const std::string trace = WriteTrace("trace.json", -1);
  const auto imported = Import({trace});
  ASSERT_TRUE(imported.ok()) << imported.error();
  EXPECT_EQ(imported.value().files, std::vector{folder_ / "run.db"});
  EXPECT_EQ(Files(), (std::vector<std::string>{"run.db", "trace.json"}));
  ExpectSameReport({trace}, {folder_ / "run.db"});
  // The test would be of little worth otherwise.
  const auto report = ReportOf({folder_ / "run.db"});
  EXPECT_EQ(report.steps_size(), 1);
  auto run = LoadRun({folder_ / "run.db"}, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().ranks[0].trust.corrupt_durations, 1);
  ASSERT_EQ(run.value().notes.size(), 1u);
  EXPECT_NE(run.value().notes[0].find("left out: no time"), std::string::npos);
}

TEST_F(ImportRunTest, RanksGetFilesNamedAsTheyAreRecorded) {
  const std::vector<std::string> traces = {WriteTrace("a.json", 1), WriteTrace("b.json", 0)};
  const auto imported = Import(traces);
  ASSERT_TRUE(imported.ok()) << imported.error();
  EXPECT_EQ(imported.value().files,
            (std::vector{folder_ / "run.rank00001.db", folder_ / "run.rank00000.db"}));
  ExpectSameReport(traces, {folder_ / "run.db"});
}

TEST_F(ImportRunTest, ProcessesOfAnExportGetAFileEach) {
  const std::string path = folder_ / "report1.sqlite";
  {
    NsysFixture file(path);
    for (const std::int64_t pid : {100, 200}) {
      for (int i = 0; i < 50; ++i) {
        file.AddApi(i * 1000, i * 1000 + 90, "cudaLaunchKernel_v7000", i + 1, pid, pid);
        file.AddKernel(i * 1000 + 100, i * 1000 + 800 + pid, fmt::format("gemm_{}", i % 5), i + 1,
                       pid);
      }
    }
  }
  const auto imported = Import({path});
  ASSERT_TRUE(imported.ok()) << imported.error();
  EXPECT_EQ(imported.value().files,
            (std::vector{folder_ / "run.rank00000.db", folder_ / "run.rank00001.db"}));
  ExpectSameReport({path}, imported.value().files);
}

TEST_F(ImportRunTest, ReplacesAFileOnlyIfAsked) {
  const std::string trace = WriteTrace("trace.json", -1);
  ASSERT_TRUE(Import({trace}).ok());
  const auto refused = Import({trace});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().find("--force"), std::string::npos);
  EXPECT_EQ(Files(), (std::vector<std::string>{"run.db", "trace.json"}));
  EXPECT_TRUE(Import({trace}, true).ok());
}

TEST_F(ImportRunTest, LeavesNothingBehindIfOneCannotBeRead) {
  const std::string trace = WriteTrace("trace.json", -1);
  const std::string broken = folder_ / "broken.json";
  std::ofstream(broken) << "{\"traceEvents\": [";
  ASSERT_FALSE(Import({trace, broken}).ok());
  std::atomic<bool> stop = true;
  ASSERT_FALSE(
      ImportRun({trace},
                {.output = folder_ / "run.db", .tool_version = "1", .reading = {.stop = &stop}})
          .ok());
  EXPECT_EQ(Files(), (std::vector<std::string>{"broken.json", "trace.json"}));
}

TEST_F(ImportRunTest, OfAFolderTheTracesAreTaken) {
  EXPECT_NE(Import({folder_.path().string()}).error().find("no trace in this folder"),
            std::string::npos);
  WriteTrace("a.json", 0);
  WriteTrace("b.json", 1);
  ASSERT_TRUE(Import({folder_.path().string()}).ok());
  const auto again = Import({folder_.path().string()}, true);
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(again.value().files.size(), 2u);
}

TEST_F(ImportRunTest, ARecordingIsRefused) {
  RunDbFixture(folder_ / "recorded.db", {}).AddKernel({.start_ns = 1, .dur_ns = 2});
  const auto refused = Import({folder_ / "recorded.db"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().find("already a recording"), std::string::npos) << refused.error();
}

TEST(NamesByRankTest, ThoseWithoutARankGetThoseThatAreLeft) {
  EXPECT_EQ(NamesByRank("out/run.db", {3}), std::vector<std::string>{"out/run.db"});
  EXPECT_EQ(NamesByRank("run.db", {1, -1, 1, 4}),
            (std::vector<std::string>{"run.rank00001.db", "run.rank00000.db", "run.rank00002.db",
                                      "run.rank00004.db"}));
  EXPECT_EQ(NamesByRank("a.b/run", {0, 1}),
            (std::vector<std::string>{"a.b/run.rank00000", "a.b/run.rank00001"}));
}

// Public traces of real GPUs lie beside the source tree, not in it.
std::vector<std::string> PublicTraces() {
  std::vector<std::string> traces;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(TRACEINJECT_PUBLIC_TRACES, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().native().ends_with(".json.gz")) traces.push_back(entry->path().string());
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

TEST_F(ImportRunTest, PublicTracesReportTheSameOnceImported) {
  const auto traces = PublicTraces();
  if (traces.empty()) GTEST_SKIP() << "no public traces at " << TRACEINJECT_PUBLIC_TRACES;
  for (const std::string& trace : traces) {
    SCOPED_TRACE(trace);
    const auto imported = Import({trace}, true);
    ASSERT_TRUE(imported.ok()) << imported.error();
    ExpectSameReport({trace}, imported.value().files);
    const proto::Report report = ReportOf(imported.value().files);
    ASSERT_GE(report.devices_size(), 1);
    // Steps where the program marked some, a whole partition and a verdict in any case.
    EXPECT_EQ(report.steps_size(), report.devices_size());
    const auto& parts = report.devices(0).partition();
    EXPECT_GT(parts.wall_ns(), 0);
    EXPECT_EQ(parts.wall_ns(), parts.compute_ns() + parts.exposed_communication_ns() +
                                   parts.exposed_copy_ns() + parts.idle_ns());
    EXPECT_FALSE(report.verdict().label().empty());
  }
}

}  // namespace
}  // namespace traceinject
