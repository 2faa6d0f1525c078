// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/annotations.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "analyzer/import/run_paths.h"
#include "analyzer/import/temporary_folder.h"
#include "viewer/core/small_file.h"

namespace traceinject {
namespace {

constexpr std::int64_t kBase = 1'700'000'000'000'000'000;

class AnnotationsTest : public testing::Test {
 protected:
  void Write(const std::string& content) { std::ofstream(path_) << content; }
  std::string Content() const {
    const Result<std::string> content = ReadSmallFile(path_, 1 << 20);
    return content.ok() ? content.value() : "cannot be read";
  }
  Annotations Open(std::int64_t base_ns = kBase) const { return {path_, base_ns}; }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db.marks.json";
};

TEST_F(AnnotationsTest, AreThereAgainAfterwards) {
  Annotations first = Open();
  EXPECT_TRUE(first.problem().empty());
  EXPECT_NE(access(path_.c_str(), F_OK), 0) << "no mark, no file";
  const Mark range{500, 900, "slow \"step\" \\ Gr\u00fc\u00dfe", MarkColours()[2]};
  EXPECT_EQ(first.Add({700, 700, "", MarkColours()[1]}), 0U);
  EXPECT_EQ(first.Add(range), 0U) << "by start";
  const Annotations again = Open();
  EXPECT_TRUE(again.problem().empty()) << again.problem();
  EXPECT_EQ(again.marks(), first.marks());
  EXPECT_EQ(again.marks()[0], range);
}

TEST_F(AnnotationsTest, TimesFitAnotherBase) {
  Open().Add({500, 900, "a", MarkColours()[0]});
  EXPECT_EQ(Open(kBase - 1'000).marks()[0].start, 1'500);
}

TEST_F(AnnotationsTest, CanBeChangedAndRemoved) {
  Annotations marks = Open();
  marks.Add({10, 10, "a", MarkColours()[0]});
  marks.Add({20, 20, "b", MarkColours()[0]});
  EXPECT_EQ(marks.Change(0, {40, 30, "c", MarkColours()[1]}), 1U);
  EXPECT_EQ(marks.marks()[1], (Mark{30, 40, "c", MarkColours()[1]})) << "start before end";
  marks.Remove(0);
  EXPECT_EQ(Open().marks(), marks.marks());
  marks.Remove(0);
  EXPECT_TRUE(Open().marks().empty());
}

TEST_F(AnnotationsTest, TextIsMadePrintable) {
  Annotations marks = Open();
  marks.Add({1, 1,
             "a\x1b[31m\n\xff"
             "b",
             MarkColours()[0]});
  EXPECT_EQ(marks.marks()[0].text,
            "a [31m \uFFFD"
            "b");
  marks.Add({2, 2, std::string(10'000, 'x'), MarkColours()[0]});
  EXPECT_LE(marks.marks()[1].text.size(), kMostMarkTextBytes);
  EXPECT_EQ(Open().marks(), marks.marks());
}

TEST_F(AnnotationsTest, AFileThatIsNotUnderstoodIsToldAndKept) {
  const std::string entry = R"("end_unix_ns": 2, "text": "a", "colour": "#ffffff"})";
  const std::string head = R"({"format": "traceview marks", "version": 1, "marks": [)";
  for (const std::string& content : {
           std::string(),
           std::string("marks"),
           std::string("[1, 2]"),
           std::string("{}"),
           std::string("null"),
           std::string("\0\0", 2),
           std::string(100'000, '['),
           std::string(R"({"format": "traceview marks", "version": 2, "marks": []})"),
           std::string(R"({"format": "other", "version": 1, "marks": []})"),
           std::string(R"({"format": "traceview marks", "version": 1, "marks": {}})"),
           head + "1]}",
           head + "{}]}",
           head + "{" + entry + "]}",
           head + R"({"start_unix_ns": "1", )" + entry + "]}",
           head + R"({"start_unix_ns": 1.5, )" + entry + "]}",
           head + R"({"start_unix_ns": -9223372036854775808, )" + entry + "]}",
           head + "{\"start_unix_ns\": 1, \"text\": \"\xff\", \"end_unix_ns\": 1}]}",
       }) {
    Write(content);
    Annotations marks = Open();
    EXPECT_TRUE(marks.marks().empty()) << content.substr(0, 100);
    EXPECT_TRUE(marks.problem().starts_with(path_ + ": ")) << marks.problem();
    marks.Add({1, 1, "mine", MarkColours()[0]});
    EXPECT_EQ(marks.marks().size(), 1U);
    EXPECT_EQ(Content(), content) << "somebody else's file is not written over";
    EXPECT_FALSE(marks.problem().empty());
  }
}

TEST_F(AnnotationsTest, OddButValidEntriesAreTaken) {
  Write(R"({"format": "traceview marks", "version": 1, "more": [1], "marks": [
    {"start_unix_ns": 1700000000000000020, "end_unix_ns": 1700000000000000010, "text": "\u001b[2J",
     "colour": "red", "by": "me"}]})");
  const Annotations marks = Open();
  ASSERT_EQ(marks.marks().size(), 1U) << marks.problem();
  EXPECT_EQ(marks.marks()[0], (Mark{10, 20, " [2J", MarkColours()[0]}));
}

TEST_F(AnnotationsTest, TooManyOrTooLargeIsAMessage) {
  std::string content = R"({"format": "traceview marks", "version": 1, "marks": [)";
  for (std::size_t i = 0; i <= kMostMarks; ++i) {
    content +=
        std::string(i > 0 ? "," : "") + R"({"start_unix_ns": 1, "end_unix_ns": 1, "text": ""})";
  }
  Write(content + "]}");
  EXPECT_NE(Open().problem().find("more than"), std::string::npos);
  Write(std::string(20 << 20, ' '));
  EXPECT_NE(Open().problem().find("larger than"), std::string::npos);
}

TEST_F(AnnotationsTest, APipeOrAFolderInItsPlaceIsAMessage) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(Open().problem().find("is not an ordinary file"), std::string::npos);
  unlink(path_.c_str());
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  EXPECT_FALSE(Open().problem().empty());
}

TEST_F(AnnotationsTest, AFolderThatCannotBeWrittenIsAMessage) {
  Annotations marks(folder_ / "missing" + "/run.db.marks.json", kBase);
  EXPECT_TRUE(marks.problem().empty());
  marks.Add({1, 1, "a", MarkColours()[0]});
  EXPECT_NE(marks.problem().find("cannot be written"), std::string::npos);
  EXPECT_EQ(marks.marks().size(), 1U) << "it is shown all the same";
}

TEST_F(AnnotationsTest, WritingLeavesNothingElseBehind) {
  Open().Add({1, 1, "a", MarkColours()[0]});
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

TEST_F(AnnotationsTest, WithoutAPathTheyLastAsLongAsTheWindow) {
  Annotations marks("", kBase);
  marks.Add({1, 1, "a", MarkColours()[0]});
  EXPECT_TRUE(marks.problem().empty());
}

TEST_F(AnnotationsTest, TimesAtTheEndOfTheNumbersDoNotOverflow) {
  Annotations marks = Open();
  marks.Add({std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::max(), "", 0});
  EXPECT_TRUE(marks.problem().empty());
}

TEST_F(AnnotationsTest, StandBesideTheFirstFileAndAreNoTrace) {
  traceinject::Run run;
  EXPECT_EQ(MarksPath(run), "");
  run.ranks.resize(2);
  run.ranks[0].path = folder_ / "trace.json";
  EXPECT_EQ(MarksPath(run), folder_ / "trace.json.marks.json");
  std::ofstream(folder_ / "trace.json") << "{}";
  std::ofstream(MarksPath(run)) << "{}";
  EXPECT_EQ(TracesInFolder(folder_.path().string()), std::vector{folder_ / "trace.json"});
}

}  // namespace
}  // namespace traceinject
