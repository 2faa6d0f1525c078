// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/missing_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "analyzer/commands/analyze.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

TEST(MissingRun, ChecklistNamesCausesAndWhatLiesNear) {
  const TemporaryFolder folder;
  std::ofstream(folder / "other.db") << "x";
  const std::string text = MissingRunChecklist({folder / "run.db"});
  for (const char* part :
       {"LD_PRELOAD", "no GPU work", "TRACEINJECT_OUTPUT", "CUDA_INJECTION64_PATH", "libcupti"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_NE(text.find(folder / "other.db"), std::string::npos) << text;
}

TEST(MissingRun, LooksWhereTheOutputWasSentTo) {
  const TemporaryFolder folder;
  std::ofstream(folder / "there.db") << "x";
  ASSERT_EQ(setenv("TRACEINJECT_OUTPUT", (folder / "%p.db").c_str(), 1), 0);
  const std::string text = MissingRunChecklist({"run.db"});
  unsetenv("TRACEINJECT_OUTPUT");
  EXPECT_NE(text.find(folder / "there.db"), std::string::npos) << text;
}

TEST(MissingRun, NamesWhatIsStillInItsSpool) {
  const TemporaryFolder folder;
  std::ofstream(folder / "run.db.node1.p7.1.spool") << "node1:/local/run.node1.p7.1.db\n";
  const std::string text = MissingRunChecklist({folder / "run.db"});
  EXPECT_NE(text.find("node1:/local/run.node1.p7.1.db ("), std::string::npos) << text;
}

class EmptyRun : public testing::Test {
 protected:
  std::string ReportErrors() {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Analyze({path_}), kUnreadable);
    return testing::internal::GetCapturedStderr();
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
};

TEST_F(EmptyRun, GetsTheChecklist) {
  RunDbFixture(path_).Close();
  const std::string error = ReportErrors();
  EXPECT_NE(error.find("contains no GPU work"), std::string::npos) << error;
  EXPECT_NE(error.find("Likely reasons"), std::string::npos) << error;
}

TEST_F(EmptyRun, SoDoesAFolderWithoutRecordings) {
  path_ = folder_.path().string();
  const std::string error = ReportErrors();
  EXPECT_NE(error.find("no recording in this folder"), std::string::npos) << error;
  EXPECT_NE(error.find("Likely reasons"), std::string::npos) << error;
}

TEST_F(EmptyRun, AFileThatIsNoRecordingGetsItsOwnSentence) {
  std::ofstream(path_) << "text";
  const std::string error = ReportErrors();
  EXPECT_NE(error.find("not an SQLite database"), std::string::npos) << error;
  EXPECT_EQ(error.find("Likely reasons"), std::string::npos) << error;
}

TEST_F(EmptyRun, ARecordedReasonReplacesTheChecklist) {
  RunDbFixture file(path_);
  file.AddHealth("start", "failed", 1, "libcupti was not found");
  file.Close();
  const std::string error = ReportErrors();
  EXPECT_NE(error.find("recording could not start: libcupti was not found"), std::string::npos)
      << error;
  EXPECT_NE(error.find("pip install"), std::string::npos) << error;
  EXPECT_EQ(error.find("Likely reasons"), std::string::npos) << error;
}

TEST_F(EmptyRun, SoDoesARecordedLoss) {
  RunDbFixture file(path_);
  file.AddHealth("writer", "errors", 3, "/data/run.db: database or disk is full");
  file.AddHealth("buffers", "exhausted", 0, "");
  file.Close();
  const std::string error = ReportErrors();
  EXPECT_NE(error.find("writer.errors = 3: transactions that failed (/data/run.db: database or "
                       "disk is full)"),
            std::string::npos)
      << error;
  EXPECT_EQ(error.find("exhausted"), std::string::npos) << error;
  EXPECT_EQ(error.find("Likely reasons"), std::string::npos) << error;
}

}  // namespace
}  // namespace traceinject
