// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/found_steps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "analyzer/export/chrome_trace.h"
#include "analyzer/export/perfetto_trace.h"
#include "analyzer/export/testing/perfetto_reader.h"
#include "analyzer/export/testing/sample_recording.h"
#include "analyzer/metrics/steps/nvtx_steps.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

std::string ContentsOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::size_t Occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// On the clock, which has another base in an exported trace.
using Boundaries = std::vector<std::int64_t>;
Boundaries BoundariesOf(const traceinject::Run& run, const Steps& steps) {
  Boundaries cuts = steps.cuts();
  for (std::int64_t& cut : cuts) cut += run.base_ns;
  return cuts;
}
Boundaries FirstBoundaries(const traceinject::Run& run) {
  const std::vector<FoundSteps> found = FindStepsOfDevices(run.ranks[0]);
  return found.empty() ? Boundaries() : BoundariesOf(run, found.front().steps);
}

using Ranges = std::multiset<std::tuple<std::int64_t, std::int64_t, std::string, std::int64_t>>;
Ranges RangesOf(const traceinject::Run& run, bool with_steps) {
  Ranges ranges;
  const Rank& rank = run.ranks[0];
  for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
    const std::string text(rank.string(rank.nvtx.text[row]));
    if (with_steps || !text.starts_with(kProfilerStep))
      ranges.emplace(run.base_ns + rank.nvtx.start[row], run.base_ns + rank.nvtx.end[row], text,
                     rank.threads[rank.nvtx.thread[row]].tid);
  }
  return ranges;
}

class FoundStepsTest : public testing::Test {
 protected:
  struct Program {
    bool marks = true;
    const char* ranges = nullptr;  // what the program calls its own, before the number
    int devices = 1;
  };

  // Seven steps of 10 us; the GPU is 3 us behind the host. Launches and marks are not those of the
  // same thread.
  traceinject::Run Record(const Program& program) {
    const std::string path = folder_ / "run.db";
    {
      RunDbFixture file(path, {.rank = 0, .end_ns = 100'000});
      for (int device = 0; device < program.devices; ++device) file.AddDevice({.device = device});
      for (int step = 0; step < 7; ++step) AddStep(program, step, file);
      file.Close();
    }
    return LoadSample(path);
  }
  static void AddStep(const Program& program, int step, RunDbFixture& file) {
    const TimeNs start = 1'000 + step * 10'001;
    for (int device = 0; device < program.devices; ++device)
      file.AddLaunchedKernel(
          {.start_ns = start + 3'000, .dur_ns = 7'000, .name = "work", .device = device}, start,
          500);
    file.AddNvtx({.start_ns = start, .dur_ns = 2'000, .text = "forward"});
    if (program.ranges != nullptr)
      file.AddNvtx({.start_ns = start - 100,
                    .dur_ns = 5'003,
                    .text = program.ranges + std::to_string(step)});
    if (program.marks) file.AddStepMark({.time_ns = start + 5'000, .tid = 4300});
  }

  traceinject::Run ThereAndBack(const traceinject::Run& run, const std::string& name) {
    auto file = OutputFile::Create(folder_ / name);
    EXPECT_TRUE(file.ok());
    WriteChromeTrace(run, 0, file.value());
    EXPECT_TRUE(file.value().Close().ok());
    return LoadSample(folder_ / name);
  }

  // What was read back is the same, and once more.
  void ExpectSameStepsFromJson(const traceinject::Run& run) {
    const Boundaries before = FirstBoundaries(run);
    ASSERT_GE(before.size(), 4U);
    const traceinject::Run once = ThereAndBack(run, "once.json");
    EXPECT_EQ(FirstBoundaries(once), before);
    const traceinject::Run twice = ThereAndBack(once, "twice.json");
    EXPECT_EQ(FirstBoundaries(twice), before);
    EXPECT_EQ(RangesOf(twice, true), RangesOf(once, true));
  }

  // Of the steps and the other ranges of the training thread, as programs that draw them need it.
  static void ExpectNested(const traceinject::Run& run) {
    const Rank& rank = run.ranks[0];
    std::vector<Interval> steps;
    std::uint32_t thread = kNone;
    for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
      if (!rank.string(rank.nvtx.text[row]).starts_with(kProfilerStep)) continue;
      steps.push_back({rank.nvtx.start[row], rank.nvtx.end[row]});
      thread = rank.nvtx.thread[row];
    }
    EXPECT_FALSE(steps.empty());
    for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
      if (rank.nvtx.thread[row] != thread) continue;
      const TimeNs start = rank.nvtx.start[row], end = rank.nvtx.end[row];
      for (const Interval& step : steps) {
        EXPECT_FALSE((start < step.start && step.start < end && end < step.end) ||
                     (step.start < start && start < step.end && step.end < end))
            << rank.string(rank.nvtx.text[row]);
      }
    }
  }

  PerfettoContents Perfetto(const traceinject::Run& run) {
    auto file = OutputFile::Create(perfetto_);
    EXPECT_TRUE(file.ok());
    WritePerfettoTrace(run, file.value());
    EXPECT_TRUE(file.value().Close().ok());
    PerfettoContents contents = ReadPerfettoTrace(perfetto_);
    EXPECT_EQ(contents.complaints, std::vector<std::string>());
    return contents;
  }

  TemporaryFolder folder_;
  std::string perfetto_ = folder_ / "trace.pftrace";
};

// The boundaries of the slices on a track, and their names.
struct Track {
  Boundaries cuts;
  std::vector<std::string> names;
};
Track TrackOf(const PerfettoContents& contents, const std::string& name) {
  Track track;
  for (const TracedSlice& slice : contents.slices) {
    if (slice.track != name) continue;
    EXPECT_EQ(slice.category, "step");
    if (track.cuts.empty()) track.cuts.push_back(static_cast<std::int64_t>(slice.start_ns));
    EXPECT_EQ(slice.start_ns, static_cast<std::uint64_t>(track.cuts.back()));
    track.cuts.push_back(static_cast<std::int64_t>(slice.end_ns));
    track.names.push_back(slice.name);
  }
  return track;
}

TEST_F(FoundStepsTest, ComeBackFromChromeJson) {
  const traceinject::Run run = Record({});
  ExpectSameStepsFromJson(run);
  const traceinject::Run after = ThereAndBack(run, "trace.json");
  EXPECT_EQ(FindStepsOfDevices(after.ranks[0]).front().steps.pattern, "ProfilerStep#N");
  const traceinject::Run without = ThereAndBack(Record({.marks = false}), "without.json");
  // Marks are ranges of a trace, too.
  EXPECT_EQ(RangesOf(after, false).size(), RangesOf(without, false).size() + 7);
  EXPECT_EQ(RangesOf(after, true).size(), RangesOf(after, false).size() + 6);
}

TEST_F(FoundStepsTest, AreThoseOfTorchProfilerOnTheTrainingThread) {
  ThereAndBack(Record({}), "trace.json");
  EXPECT_NE(ContentsOf(folder_ / "trace.json")
                .find("{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", "
                      "\"pid\": 4242, \"tid\": 4300, \"ts\": 6.000, \"dur\": 10.001, \"args\": "
                      "{\"found by\": \"optimizer steps\", \"confidence\": 1}}"),
            std::string::npos);
}

TEST_F(FoundStepsTest, RangesOfTheProgramAreNotWrittenTwice) {
  for (const bool marks : {false, true}) {
    const traceinject::Run run = Record({.marks = marks, .ranges = "ProfilerStep#"});
    const traceinject::Run after = ThereAndBack(run, "trace.json");
    EXPECT_EQ(Occurrences(ContentsOf(folder_ / "trace.json"), "\"ProfilerStep#"), 7U);
    EXPECT_EQ(RangesOf(after, true).size(), RangesOf(run, true).size() + (marks ? 7 : 0));
  }
  const traceinject::Run run = Record({.marks = false, .ranges = "train step "});
  EXPECT_EQ(FindStepsOfDevices(run.ranks[0]).front().steps.source, StepSource::kRanges);
  ExpectSameStepsFromJson(run);
  EXPECT_EQ(Occurrences(ContentsOf(folder_ / "once.json"), "ProfilerStep"), 0U);
}

TEST_F(FoundStepsTest, NestWithRangesInWhichTheOptimizerEndsItsStep) {
  RunDbFixture file(folder_ / "run.db", {.rank = 0, .end_ns = 100'000});
  file.AddDevice({});
  for (int step = 0; step < 7; ++step) {
    const TimeNs start = 1'000 + step * 10'001;
    file.AddLaunchedKernel({.start_ns = start + 3'000, .dur_ns = 7'000}, start, 500);
    file.AddNvtx({.start_ns = start - 100, .dur_ns = 6'000, .text = "batch"});
    file.AddNvtx({.start_ns = start + 4'000, .dur_ns = 1'003, .text = "update"});
    file.AddStepMark({.time_ns = start + 5'000});
    // What is launched in a range behind the mark belongs to the next step.
    if (step == 3)
      file.AddLaunchedKernel({.start_ns = start + 10'000, .dur_ns = 1}, start + 5'500, 100);
  }
  file.Close();
  const traceinject::Run run = LoadSample(folder_ / "run.db");
  ExpectSameStepsFromJson(run);
  const Steps steps = FindStepsOfDevices(run.ranks[0]).front().steps;
  const std::vector<TimeNs> moments = MomentsOnHost(run.ranks[0], steps);
  ASSERT_EQ(moments.size(), 7U);
  for (std::size_t i = 0; i < moments.size(); ++i)
    EXPECT_EQ(moments[i] - 1'000 - static_cast<TimeNs>(i) * 10'001, i == 3 ? 5'003 : 5'900) << i;
}

TEST_F(FoundStepsTest, OfRecordingsOfTrainingAreTheSameInBothFormats) {
  for (const char* name : {"transformer_h200.db.zst", "ddp_h200/run.rank00001.db.zst"}) {
    SCOPED_TRACE(name);
    traceinject::Run run = LoadSample(std::string(TRACEINJECT_RECORDINGS) + "/" + name);
    for (const StepSource source : {StepSource::kMarks, StepSource::kStructure}) {
      const std::vector<FoundSteps> found = FindStepsOfDevices(run.ranks[0]);
      ASSERT_EQ(found.size(), 1U);
      ASSERT_EQ(found[0].steps.source, source);
      ExpectSameStepsFromJson(run);
      ExpectNested(LoadSample(folder_ / "once.json"));
      const Track track = TrackOf(Perfetto(run), "Steps");
      ASSERT_EQ(track.cuts, FirstBoundaries(run));
      const Steps& steps = found[0].steps;
      EXPECT_EQ(track.names.back(), "step " + std::to_string(steps.number(steps.steps.size() - 1)));
      run.ranks[0].step_marks = {};
      run.ranks[0].nvtx = {};
    }
  }
}

TEST_F(FoundStepsTest, EachGpuHasATrackOfThem) {
  const traceinject::Run run = Record({.devices = 2});
  const PerfettoContents contents = Perfetto(run);
  EXPECT_EQ(TrackOf(contents, "Steps of GPU 0").cuts, FirstBoundaries(run));
  EXPECT_EQ(TrackOf(contents, "Steps of GPU 1").cuts, FirstBoundaries(run));
  EXPECT_TRUE(TrackOf(contents, "Steps").cuts.empty());
}

TEST_F(FoundStepsTest, WithoutStepsThereAreNone) {
  WriteSampleRecording(folder_ / "run.db", {.rank = 0, .end_ns = 60'000});
  const traceinject::Run run = LoadSample(folder_ / "run.db");
  EXPECT_TRUE(TrackOf(Perfetto(run), "Steps").cuts.empty());
  ThereAndBack(run, "trace.json");
  EXPECT_EQ(Occurrences(ContentsOf(folder_ / "trace.json"), "ProfilerStep"), 0U);
}

TEST_F(FoundStepsTest, ProtocDecodesThem) {
  Perfetto(Record({}));
  const std::string text = folder_ / "trace.txt";
  const std::string command =
      std::string("'") + TRACEINJECT_PROTOC + "' --proto_path='" + TRACEINJECT_TESTDATA +
      "' --decode=public_trace.File public_trace.proto < '" + perfetto_ + "' > '" + text + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const std::string decoded = ContentsOf(text);
  EXPECT_EQ(Occurrences(decoded, "name: \"Steps\""), 1U);
  EXPECT_EQ(Occurrences(decoded, "name: \"step 6\""), 1U);
  EXPECT_EQ(Occurrences(decoded, "name: \"step 7\""), 0U);
}

}  // namespace
}  // namespace traceinject
