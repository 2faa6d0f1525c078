// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"
#include "schemas/report.pb.h"

namespace traceinject {
namespace {

TEST(Output, WritesFilesAndStdout) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteOutput(folder / "a", "old and long").ok());
  ASSERT_TRUE(WriteOutput(folder / "a", std::string_view("n\0w", 3)).ok());
  EXPECT_EQ(ReadText(folder / "a"), std::string("n\0w", 3));
  testing::internal::CaptureStdout();
  ASSERT_TRUE(WriteOutput("-", "data").ok());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "data");
}

TEST(Output, FilesAreForTheirOwnerOnly) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteOutput(folder / "a", "text").ok());
  struct stat about {};
  ASSERT_EQ(stat((folder / "a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  ASSERT_EQ(chmod((folder / "a").c_str(), 0644), 0);
  ASSERT_TRUE(WriteOutput(folder / "a", "more").ok());
  ASSERT_EQ(stat((folder / "a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0644U) << "it was shared";
}

TEST(Output, ALinkIsReplacedAndNotFollowed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "victim") << "precious";
  ASSERT_EQ(symlink((folder / "victim").c_str(), (folder / "a").c_str()), 0);
  ASSERT_TRUE(WriteOutput(folder / "a", "text").ok());
  EXPECT_EQ(ReadText(folder / "victim"), "precious");
  EXPECT_EQ(ReadText(folder / "a"), "text");
}

TEST(Output, FailuresNameTheFile) {
  const TemporaryFolder folder;
  const Status missing = WriteOutput(folder / "no/such/folder", "x");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find("no/such/folder"), std::string::npos);
  const Status full = WriteOutput("/dev/full", "x");
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().find("/dev/full: write failed"), std::string::npos) << full.error();
}

TEST(Output, ProgressLine) {
  EXPECT_EQ(ProgressLine({.share = 0.5, .files_done = 1, .files = 2, .rows = 1234}, 80),
            "reading  [###############...............]  50 %  1 of 2 files, 1,234 rows");
  EXPECT_EQ(ProgressLine({.share = 1, .files_done = 2, .files = 2, .rows = 0}, 80),
            "reading  [##############################]  100 %  2 of 2 files, 0 rows");
}

TEST(Output, ProgressLineFitsTheTerminal) {
  const LoadProgress progress = {.share = 0.5, .files_done = 1, .files = 2, .rows = 1234};
  const std::string full = ProgressLine(progress, 80);
  EXPECT_EQ(ProgressLine(progress, full.size() + 1), full);
  EXPECT_EQ(ProgressLine(progress, full.size()), "reading  50 %  1 of 2 files, 1,234 rows");
  EXPECT_EQ(ProgressLine(progress, 20), "reading  50 %  1 of");
  EXPECT_EQ(ProgressLine(progress, 0), "");
}

class ReportOutput : public testing::Test {
 protected:
  ReportOutput() {
    for (int rank = 0; rank < 2; ++rank) {
      RunDbFixture file(folder_ / (rank == 0 ? "run.rank00000.db" : "run.rank00001.db"),
                        {.rank = rank, .world_size = 2});
      file.AddLaunchedKernel({.start_ns = 1'000, .dur_ns = 500'000, .name = "nvjet_tst_128x256"}, 0,
                             500);
      file.Close();
    }
  }
  std::string Stdout(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(Analyze(arguments), kReported);
    return testing::internal::GetCapturedStdout();
  }
  TemporaryFolder folder_;
  std::string run_ = folder_ / "run.db";
};

TEST_F(ReportOutput, AllFormats) {
  EXPECT_NE(Stdout({run_}).find("nvjet_tst_128x256"), std::string::npos);
  EXPECT_EQ(Stdout({run_}), Stdout({"report", "--no-progress", run_}));
  EXPECT_TRUE(Stdout({run_, "--format", "json"}).starts_with("{"));
  proto::Report report;
  EXPECT_TRUE(report.ParseFromString(Stdout({run_, "--format", "pb"})));
  EXPECT_EQ(report.devices_size(), 2);
  EXPECT_EQ(Stdout({run_, "-o", folder_ / "report.txt"}), "");
  EXPECT_EQ(ReadText(folder_ / "report.txt"), Stdout({run_, "-o", "-"}));
}

TEST_F(ReportOutput, InfoShowsEveryFile) {
  const std::string text = Stdout({"info", run_});
  for (const char* part :
       {"run.rank00000.db", "run.rank00001.db", "schema_version", "NVIDIA H200", "kernel"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  const std::string json = Stdout({"info", run_, "--format", "json"});
  EXPECT_NE(json.find("\"sm_count\": 132"), std::string::npos) << json;
}

TEST_F(ReportOutput, SqlRunsInEveryFile) {
  EXPECT_EQ(Stdout({"sql", run_, "SELECT count(*) AS n FROM kernel", "--format", "csv"}),
            "rank,n\r\n0,1\r\n1,1\r\n");
  EXPECT_EQ(Stdout({"sql", folder_ / "run.rank00001.db", "SELECT 7 AS n"}), "n\n7\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(Analyze({"sql", run_, "DROP TABLE kernel"}), kUnreadable);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("read-only"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
