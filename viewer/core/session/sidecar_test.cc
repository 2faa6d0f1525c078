// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/sidecar.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "analyzer/import/open/run_paths.h"
#include "machine/testing/temporary_folder.h"
#include "viewer/core/session/small_file.h"

namespace traceinject {
namespace {

constexpr std::int64_t kBase = 1'700'000'000'000'000'000;

class SidecarTest : public testing::Test {
 protected:
  void WriteFile(const std::string& content) { std::ofstream(path_) << content; }
  std::string Content() const {
    const Result<std::string> content = ReadSmallFile(path_, 1 << 20);
    return content.ok() ? content.value() : "cannot be read";
  }
  // What a window that opens the run now would see; why it does not in `problem_`.
  SidecarContent Read(std::int64_t base_ns = kBase) {
    Sidecar sidecar(path_);
    SidecarContent content = sidecar.Read(base_ns);
    problem_ = sidecar.problem();
    return content;
  }
  void Save(const SidecarContent& content) { Sidecar(path_).Write(content, kBase); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db.marks.json";
  std::string problem_;
};

TEST_F(SidecarTest, WhatIsWrittenIsThereAgainAfterwards) {
  EXPECT_TRUE(Read().marks.empty());
  EXPECT_EQ(problem_, "");
  EXPECT_NE(access(path_.c_str(), F_OK), 0) << "reading writes nothing";
  const SidecarContent content = {
      {{500, 900, "slow \"step\" \\ Gr\u00fc\u00dfe", MarkColors()[2]}, {700, 700, "", 0xff}},
      {{"rank 0"},
       {"rank 0/GPU 0/samples"},
       {"rank 0/host", "rank 1/\"a\\b\""},
       {"rank 1/GPU 0"},
       {"b", "a"}}};
  Save(content);
  const SidecarContent again = Read();
  EXPECT_EQ(problem_, "");
  EXPECT_EQ(again.marks, content.marks);
  EXPECT_EQ(again.rows, content.rows);
  Save({});
  EXPECT_TRUE(Read().marks.empty());
  EXPECT_EQ(Read().rows, SavedRows());
}

TEST_F(SidecarTest, OfManyWritesTheLastIsThere) {
  {
    Sidecar sidecar(path_);
    for (TimeNs time = 0; time < 200; ++time) sidecar.Write({{{time, time, "", 0xff}}, {}}, kBase);
  }
  EXPECT_EQ(Read().marks.at(0).start, 199);
}

TEST_F(SidecarTest, TimesFitAnotherBase) {
  Save({{{500, 900, "a", MarkColors()[0]}}, {}});
  EXPECT_EQ(Read(kBase - 1'000).marks.at(0).start, 1'500);
}

TEST_F(SidecarTest, AFileOfMarksOnlyIsStillRead) {
  WriteFile(R"({"format": "traceview marks", "version": 1, "marks": [
    {"start_unix_ns": 1700000000000000010, "end_unix_ns": 1700000000000000020, "text": "old",
     "colour": "#ffb74d"}]})");
  const SidecarContent content = Read();
  EXPECT_EQ(problem_, "");
  ASSERT_EQ(content.marks.size(), 1U);
  EXPECT_EQ(content.marks[0].text, "old");
  EXPECT_EQ(content.rows, SavedRows());
}

TEST_F(SidecarTest, AFileThatIsNotUnderstoodIsToldAndKept) {
  const std::string entry = R"("end_unix_ns": 2, "text": "a", "colour": "#ffffff"})";
  const std::string head = R"({"format": "traceview sidecar", "version": 2, "marks": [)";
  for (const std::string& content : {
           std::string(),
           std::string("marks"),
           std::string("[1, 2]"),
           std::string("{}"),
           std::string("null"),
           std::string("\0\0", 2),
           std::string(100'000, '['),
           std::string(R"({"format": "traceview sidecar", "version": 3, "marks": []})"),
           std::string(R"({"format": "traceview marks", "version": 0, "marks": []})"),
           std::string(R"({"format": "other", "version": 1, "marks": []})"),
           std::string(R"({"format": "traceview marks", "version": 1, "marks": {}})"),
           head + "1]}",
           head + "{}]}",
           head + "{" + entry + "]}",
           head + R"({"start_unix_ns": "1", )" + entry + "]}",
           head + R"({"start_unix_ns": 1.5, )" + entry + "]}",
           head + R"({"start_unix_ns": -9223372036854775808, )" + entry + "]}",
           head + "{\"start_unix_ns\": 1, \"text\": \"\xff\", \"end_unix_ns\": 1}]}",
           head + R"(], "rows": {"hidden": "rank 0"}})",
           head + R"(], "rows": {"pinned": [1]}})",
       }) {
    WriteFile(content);
    Sidecar sidecar(path_);
    EXPECT_TRUE(sidecar.Read(kBase).marks.empty()) << content.substr(0, 100);
    EXPECT_TRUE(sidecar.problem().starts_with(path_ + ": ")) << sidecar.problem();
    sidecar.Write({{{1, 1, "mine", MarkColors()[0]}}, {}}, kBase);
    sidecar.Wait();
    EXPECT_EQ(Content(), content) << "somebody else's file is not written over";
    EXPECT_FALSE(sidecar.problem().empty());
  }
}

TEST_F(SidecarTest, OddButValidEntriesAreTaken) {
  WriteFile(R"({"format": "traceview sidecar", "version": 2, "more": [1], "marks": [
    {"start_unix_ns": 1700000000000000020, "end_unix_ns": 1700000000000000010, "text": "\u001b[2J",
     "colour": "red", "by": "me"}], "rows": {"hidden": ["", "\u001b"], "wide": 7}})");
  const SidecarContent content = Read();
  ASSERT_EQ(content.marks.size(), 1U) << problem_;
  EXPECT_EQ(content.marks[0].color, MarkColors()[0]);
  EXPECT_EQ(content.rows.hidden.size(), 2U);
}

TEST_F(SidecarTest, TooManyOrTooLargeIsAMessage) {
  std::string content = R"({"format": "traceview marks", "version": 1, "marks": [)";
  for (std::size_t i = 0; i <= kMaxMarks; ++i) {
    content +=
        std::string(i > 0 ? "," : "") + R"({"start_unix_ns": 1, "end_unix_ns": 1, "text": ""})";
  }
  WriteFile(content + "]}");
  Read();
  EXPECT_NE(problem_.find("more than"), std::string::npos);
  WriteFile(std::string(20 << 20, ' '));
  Read();
  EXPECT_NE(problem_.find("larger than"), std::string::npos);
}

TEST_F(SidecarTest, APipeOrAFolderInItsPlaceIsAMessage) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  Read();
  EXPECT_NE(problem_.find("is not a regular file"), std::string::npos);
  unlink(path_.c_str());
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  Read();
  EXPECT_FALSE(problem_.empty());
}

TEST_F(SidecarTest, AFolderThatCannotBeWrittenIsAMessage) {
  Sidecar sidecar(folder_ / "missing" + "/run.db.marks.json");
  sidecar.Read(kBase);
  EXPECT_EQ(sidecar.problem(), "");
  sidecar.Write({{{1, 1, "a", MarkColors()[0]}}, {}}, kBase);
  sidecar.Wait();
  EXPECT_NE(sidecar.problem().find("cannot be written"), std::string::npos);
}

TEST_F(SidecarTest, WritingLeavesNothingElseBehind) {
  Save({});
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

TEST_F(SidecarTest, WithoutAPathNothingIsWritten) {
  Sidecar sidecar("");
  sidecar.Read(kBase);
  sidecar.Write({}, kBase);
  EXPECT_FALSE(sidecar.busy());
  EXPECT_EQ(sidecar.problem(), "");
}

TEST_F(SidecarTest, OfTwoThatAreOpenOneWrites) {
  Save({{{1, 2, "mine", 0xff}}, {}});
  Sidecar other(path_);
  EXPECT_EQ(other.Read(kBase).marks.size(), 1U);
  other.LeaveToAnother();
  EXPECT_EQ(other.problem(), "");
  other.Write({}, kBase);
  EXPECT_FALSE(other.busy());
  EXPECT_NE(other.problem().find("Another viewer"), std::string::npos);
  EXPECT_EQ(Read().marks.size(), 1U) << "it is as it was";
}

TEST_F(SidecarTest, TimesAtTheEndOfTheNumbersDoNotOverflow) {
  constexpr TimeNs kLast = std::numeric_limits<TimeNs>::max();
  Save({{{kLast, kLast, "", 0xff}}, {}});
  Read();
  EXPECT_EQ(problem_, "");
}

TEST_F(SidecarTest, StandsBesideTheFirstFileAndIsNoTrace) {
  traceinject::Run run;
  EXPECT_EQ(SidecarPath(run), "");
  run.ranks.resize(2);
  run.ranks[0].path = folder_ / "trace.json";
  EXPECT_EQ(SidecarPath(run), folder_ / "trace.json.marks.json");
  std::ofstream(folder_ / "trace.json") << "{}";
  std::ofstream(SidecarPath(run)) << "{}";
  EXPECT_EQ(TracesInFolder(folder_.path().string()), std::vector{folder_ / "trace.json"});
}

}  // namespace
}  // namespace traceinject
