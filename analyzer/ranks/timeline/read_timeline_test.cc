// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/timeline/read_timeline.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "analyzer/import/source/timeline_file.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

constexpr char kHeader[] = R"({"job_timeline": 1, "time_unit": "us"})";
constexpr char kForward[] =
    R"({"rank": 0, "step": 7, "kind": "forward", "start": 100, "end": 150.5})";

// A transfer from one stage to the next.
constexpr char kSend[] =
    R"("rank": 0, "stage": 0, "step": 1, "kind": "send", "peer": 1, "start": 0, "end": 9)";
constexpr char kReceive[] =
    R"("rank": 1, "stage": 1, "step": 1, "kind": "recv", "peer": 0, "start": 3, "end": 9)";

class ReadTimelineTest : public ::testing::Test {
 protected:
  Result<Job> Read(const std::string& text) {
    path_ = folder_ / "timeline.json";
    WriteText(path_, text);
    ReadProgress progress;
    return ReadTimeline(path_, progress);
  }
  // Without the path.
  std::string ErrorOf(const std::string& text) {
    const auto job = Read(text);
    if (job.ok()) return "";
    EXPECT_TRUE(job.error().starts_with(path_)) << job.error();
    return job.error().substr(path_.size());
  }
  std::string ErrorOfOperation(const std::string& fields) {
    return ErrorOf(std::string(kHeader) + "\n" + kForward + "\n{" + fields + "}\n");
  }
  Job Good(const std::string& text) {
    auto job = Read(text);
    EXPECT_TRUE(job.ok()) << job.error();
    return job.ok() ? std::move(job).value() : Job{};
  }

  TemporaryFolder folder_;
  std::string path_;
};

std::string Lines(const std::vector<std::string>& operations) {
  std::string text = std::string(kHeader) + "\n";
  for (const std::string& one : operations) text += "{" + one + "}\n";
  return text;
}

TEST_F(ReadTimelineTest, LinesAndListsAreTheSame) {
  const std::string other =
      R"({"rank": 0, "step": 7, "kind": "optimizer", "start": 160, "duration": 2})";
  for (const std::string& text :
       {std::string(kHeader) + "\n" + kForward + "\n" + other + "\n",
        "[" + std::string(kHeader) + ",\n" + kForward + ",\n" + other + "]\n"}) {
    const Job job = Good(text);
    ASSERT_EQ(job.ranks.size(), 1U);
    const WorkOperations& work = job.ranks[0].work;
    ASSERT_EQ(work.count(), 2U);
    EXPECT_EQ(job.base_ns, 100'000);
    EXPECT_EQ(work.end[0], 50'500);
    EXPECT_EQ(work.start[1], 60'000);
    EXPECT_EQ(work.end[1], 62'000);
    EXPECT_EQ(job.ranks[0].work_kinds, (std::vector<std::string>{"forward", "optimizer"}));
    EXPECT_TRUE(IsTimeline(path_));
  }
}

TEST_F(ReadTimelineTest, OnlyTheHeaderMakesIt) {
  WriteText(folder_ / "trace.json", R"({"schemaVersion": 1, "traceEvents": []})");
  EXPECT_FALSE(IsTimeline(folder_ / "trace.json"));
  EXPECT_FALSE(IsTimeline(folder_ / "none.json"));
}

TEST_F(ReadTimelineTest, ErrorsNameLineAndField) {
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": "forward", "start": 5)"),
            ":3: \"end\" is missing (or \"duration\")");
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": "forward", "start": 5, "end": 4)"),
            ":3: \"end\" is before \"start\"");
  EXPECT_EQ(ErrorOfOperation(R"("rank": -1, "kind": "forward", "start": 5, "end": 6)"),
            ":3: \"rank\" must be a whole number of 0 or more, found -1");
  EXPECT_EQ(ErrorOfOperation(R"("kind": "forward", "start": 5, "end": 6)"),
            ":3: \"rank\" is missing");
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": "send", "start": 5, "end": 6)"),
            ":3: \"peer\" is missing: the rank at the other end of the send");
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": "allreduce", "start": 5, "end": 6)"),
            ":3: \"group\" is missing: what the ranks of the all-reduce have in common");
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": "forward", "start": "soon", "end": 6)"),
            ":3: \"start\" must be a number, found \"soon\"");
  EXPECT_TRUE(ErrorOfOperation(R"("rank": 0, "kind": "sleep", "start": 5, "end": 6)")
                  .starts_with(":3: unknown \"kind\" sleep: expected forward, backward"));
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": 7, "start": 5, "end": 6)"),
            ":3: \"kind\" must be a text, \"...\", found 7");
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": "forward" "start": 5)"),
            ":3: no valid JSON object");
  EXPECT_EQ(ErrorOfOperation(R"("rank": 0, "kind": "forward", "start": 1e30, "end": 6)"),
            ":3: \"start\" must be a number, found 1e30");
}

TEST_F(ReadTimelineTest, ErrorsOfTheFile) {
  EXPECT_EQ(ErrorOf(std::string(kHeader)), ": no operations after the header");
  EXPECT_EQ(ErrorOf(R"({"job_timeline": 1})"),
            ":1: \"time_unit\" is missing in the header: \"ns\", \"us\", \"ms\" or \"s\"");
  EXPECT_EQ(ErrorOf(R"({"job_timeline": 9, "time_unit": "us"})"),
            ":1: \"job_timeline\" is version 9; this analyze reads versions up to 1");
  EXPECT_EQ(ErrorOf("[" + std::string(kHeader) + ",\n" + kForward),
            ":2: the list is not closed: the file is truncated");
  EXPECT_EQ(ErrorOf(std::string(kHeader) + "\n{\"rank\": 0,"),
            ":2: an object is not closed: the file is truncated");
  EXPECT_EQ(ErrorOf(std::string(kHeader) + "\n17\n"), ":2: expected an object, {...}, found 17");
  EXPECT_EQ(ErrorOf(R"({"job_timeline": 1, "time_unit": "us", "world_size": 2})"
                    "\n{\"rank\": 2, \"kind\": \"forward\", \"start\": 1, \"end\": 2}\n"),
            ": there is a rank 2, and \"world_size\" of the header is 2");
}

TEST_F(ReadTimelineTest, StepsAreSplitExactly) {
  const Job job = Good(Lines({
      R"("rank": 0, "step": 1, "kind": "data", "start": 0, "end": 10)",
      R"("rank": 0, "step": 1, "kind": "forward", "start": 10, "end": 40)",
      R"("rank": 0, "step": 1, "kind": "all_reduce", "group": "data", "start": 30, "end": 60)",
      R"("rank": 0, "step": 1, "kind": "optimizer", "start": 65, "end": 70)",
      R"("rank": 0, "step": 2, "kind": "forward", "start": 75, "end": 100)",
  }));
  const std::vector<StepFacts>& steps = job.ranks.at(0).steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].time.end, 70'000);
  EXPECT_EQ(steps[1].time.start, 70'000);
  EXPECT_EQ(steps[0].compute_ns, 35'000);
  EXPECT_EQ(steps[0].exposed_communication_ns, 20'000);
  EXPECT_EQ(steps[0].idle_ns[static_cast<std::size_t>(IdleCause::kDataWait)], 10'000);
  EXPECT_EQ(steps[0].idle_ns[static_cast<std::size_t>(IdleCause::kUnknown)], 5'000);
  EXPECT_EQ(job.ranks[0].groups.at(0).blocked_ns.at(0), 20'000);
}

// Monitors that look at a step now and then.
TEST_F(ReadTimelineTest, StepsThatWereNotRecordedAreInNone) {
  const Job job = Good(Lines({
      R"("rank": 0, "step": 100, "kind": "forward", "start": 0, "end": 10)",
      R"("rank": 0, "step": 200, "kind": "forward", "start": 1000, "end": 1010)",
  }));
  const std::vector<StepFacts>& steps = job.ranks.at(0).steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].time.start, 1'000'000);
  EXPECT_EQ(steps[1].time.end, 1'010'000);
}

TEST_F(ReadTimelineTest, BothEndsOfATransferAreInOneGroup) {
  const Job job = Good(Lines({
      kSend,
      kReceive,
      R"("rank": 1, "stage": 1, "step": 1, "kind": "send", "peer": 0, "start": 11, "end": 12)",
  }));
  ASSERT_EQ(job.ranks.size(), 2U);
  EXPECT_EQ(job.ranks[0].stage, 0);
  EXPECT_EQ(job.ranks[1].stage, 1);
  EXPECT_EQ(job.ranks[1].world_size, 2);
  ASSERT_EQ(job.ranks[1].groups.size(), 2U) << "one for each way";
  const std::uint64_t down = job.ranks[0].groups.at(0).hash;
  EXPECT_TRUE(job.ranks[1].groups[0].hash == down || job.ranks[1].groups[1].hash == down);
}

TEST_F(ReadTimelineTest, GroupsMayBeListsOfRanks) {
  const Job job = Good(Lines({
      R"("rank": 0, "kind": "AllGather", "group": [0, 8], "bytes": 4096, "start": 0, "end": 9)",
      R"("rank": 8, "kind": "all-gather", "group": [8, 0], "bytes": 4096, "start": 0, "end": 9)",
  }));
  ASSERT_EQ(job.ranks.size(), 2U);
  EXPECT_EQ(job.ranks[0].groups.at(0).hash, job.ranks[1].groups.at(0).hash);
  EXPECT_EQ(job.ranks[0].groups[0].size, 2);
  EXPECT_EQ(job.ranks[0].kinds, (std::vector<OperationKind>{{"AllGather", 4096}}));
  EXPECT_EQ(job.notes.size(), 1U) << "that there are no steps";
}

TEST_F(ReadTimelineTest, AStageThatChangesIsAnError) {
  EXPECT_EQ(ErrorOf(Lines({
                R"("rank": 0, "stage": 0, "kind": "forward", "start": 0, "end": 9)",
                R"("rank": 0, "stage": 1, "kind": "forward", "start": 10, "end": 19)",
            })),
            ":3: \"stage\" of rank 0 is 1 here and 0 before");
}

// Whatever is cut out or put in: an error or a job that holds what it should.
TEST_F(ReadTimelineTest, DamageDoesNoHarm) {
  const std::string good = Lines({
      kSend,
      kReceive,
      R"("rank": 1, "step": 2, "kind": "forward", "micro_batch": 3, "start": 11, "end": 12)",
  });
  for (std::size_t at = 0; at < good.size(); at += 7) {
    for (const std::string& with : {std::string(), std::string("9"), std::string("\""),
                                    std::string("["), std::string("}"), std::string("-")}) {
      std::string text = good;
      text.replace(at, 1, with);
      const auto job = Read(text);
      EXPECT_TRUE(!job.ok() || CheckJob(job.value()).ok()) << text;
    }
  }
}

}  // namespace
}  // namespace traceinject
