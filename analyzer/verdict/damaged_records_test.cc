// SPDX-License-Identifier: Apache-2.0
// What is reported of real recordings whose records were damaged: the damage is noticed, and no
// figure is off by more than a fiftieth unless it is withheld.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "analyzer/import/load/load_run.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/damage.h"

namespace traceinject {
namespace {

// testing::Test has a Run of its own.
using Loaded = Run;

const char* const kRecordings[] = {"ddp_h200", "slow_loader_h200.db.zst",
                                   "slow_loader_fixed_h200.db.zst", "transformer_h200.db.zst"};

class DamagedRecordsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto run = LoadRun({std::string(TRACEINJECT_RECORDINGS) + "/" + GetParam()}, {});
    ASSERT_TRUE(run.ok()) << run.error();
    run_ = std::move(run).value();
    whole_ = BuildReportWithVerdict(run_, kAll);
  }

  template <typename Damage>
  void Do(Damage damage) {
    for (Rank& rank : run_.ranks) {
      damage(rank);
      ReadAgain(rank);
    }
    damaged_ = BuildReportWithVerdict(run_, kAll);
    Compare();
  }
  void Compare() {
    const Numbers whole(whole_), damaged(damaged_);
    for (const auto& [path, is] : damaged.values()) {
      const auto was = whole.values().find(path);
      if (was == whole.values().end() || was->second == 0 || IsExpected(path)) continue;
      // Announced: the longest of a kind may be among the lost. Longer than it was it cannot
      // become.
      if (path.ends_with(".max_ns") && is < was->second && Found("lost_operations") > 0) continue;
      const double error = std::abs(is - was->second) / std::abs(was->second);
      if (error <= kMaxOff) largest_ = std::max(largest_, error);
      if (error > std::max(kMaxOff, Announced(path, was->second)))
        off_.push_back(fmt::format("{}: {} for {}", path, is, was->second));
    }
  }
  std::int64_t Found(const std::string& name) const {
    std::int64_t count = 0;
    for (const proto::TrustFinding& finding : damaged_.trust().findings()) {
      if (finding.name() == name) count += finding.count();
    }
    return count;
  }
  std::set<std::string> Withheld() const {
    std::set<std::string> figures;
    for (const proto::Withheld& withheld : damaged_.trust().withheld())
      figures.insert(withheld.figures());
    return figures;
  }
  void ExpectNothingOff() {
    EXPECT_TRUE(off_.empty()) << fmt::format("{} figures are off", off_.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(off_.size(), 40); ++i)
      ADD_FAILURE() << off_[i];
    RecordProperty("largest_error", fmt::format("{:.4f}", largest_));
    fmt::print("{}: largest error {:.3f} %\n", GetParam(), 100 * largest_);
  }

  // Which steps are judged depends on all of them: of the whole recording, only what is damaged may
  // be off.
  static ReportOptions OfAll() {
    ReportOptions options;
    options.all = true;
    return options;
  }
  const ReportOptions kAll = OfAll();
  static constexpr double kMaxOff = 0.02;
  // Statements about the records, statistics of single gaps and steps, which rows cannot be matched
  // for, and what is less sure for the damage.
  static bool IsExpected(const std::string& path) {
    for (const char* part : {".trust", ".health", ".scope.", ".join.", ".longest_gaps", "].steps[",
                             ".mad_ns", ".irregular", ".left_out", ".confidence", ".replay_check.",
                             "saved_low_ns", "saved_high_ns"}) {
      if (path.find(part) != std::string::npos) return true;
    }
    return false;
  }
  // What the report itself says that a figure may be off by: where operations were lost, parts of
  // the time by the unrecorded part, and rows of tables by what chance makes of the share that was
  // lost.
  double Announced(const std::string& path, double was) const {
    if (Found("lost_operations") == 0) return 0;
    const auto contains = [&](const char* part) { return path.find(part) != std::string::npos; };
    // Its means are what is shown: a step at the border of what is regular changes the sum.
    const double more = contains("regular_sum.")  ? MoreSteps(path, "regular")
                        : contains("judged_sum.") ? MoreSteps(path, "judged")
                                                  : 0;
    if (contains("sum.data_waits")) return more;
    if (contains("partition.") || contains("sum.") || contains("_share.") ||
        contains("exposed_ns")) {
      const proto::Partition& time = damaged_.run().partition();
      const double unrecorded = static_cast<double>(time.unrecorded_ns());
      if (contains("_ns")) return more + unrecorded / was;
      const double share = unrecorded / static_cast<double>(time.wall_ns());
      return (contains("percent") ? 100 : 1) * share / was;
    }
    const Numbers whole(whole_);
    const auto count = whole.values().find(path.substr(0, path.rfind('.')) + ".count");
    if (count == whole.values().end()) return 0;
    return kLost + 4 * std::sqrt(kLost / count->second) + 1 / count->second;
  }
  // By how much the number of these steps changed, as a share.
  double MoreSteps(const std::string& path, const std::string& kind) const {
    const std::string number = path.substr(0, path.find(kind + "_sum.")) + kind;
    const Numbers whole(whole_), damaged(damaged_);
    const double was = whole.values().at(number);
    return std::abs(damaged.values().at(number) - was) / was;
  }
  static constexpr double kLost = 0.01;

  Loaded run_;
  Report whole_, damaged_;
  std::vector<std::string> off_;
  double largest_ = 0;
};

TEST_P(DamagedRecordsTest, WholeOnesRaiseNoAlarm) {
  EXPECT_FALSE(whole_.has_trust());
  Do([](Rank&) {});
  EXPECT_FALSE(damaged_.has_trust());
  ExpectNothingOff();
  EXPECT_EQ(largest_, 0);
}

TEST_P(DamagedRecordsTest, OnePercentLost) {
  Do([](Rank& rank) { LoseRecords(rank, kLost, 7); });
  EXPECT_GT(Found("lost_operations"), 0);
  EXPECT_GT(Found("without_call"), 0);
  ExpectNothingOff();
}

TEST_P(DamagedRecordsTest, IdsShuffled) {
  Do([](Rank& rank) { ShuffleIds(rank, 1, 7); });
  EXPECT_GT(Found("wrong_links"), 0);
  EXPECT_TRUE(Withheld().contains("gap_causes"));
  EXPECT_TRUE(Withheld().contains("links"));
  EXPECT_EQ(damaged_.verdict().label(), "inconclusive");
  ExpectNothingOff();
  // Then nothing is of judged steps, as nobody knows which operations belong to them.
  EXPECT_EQ(BuildReportWithVerdict(run_, {}).scope().text(),
            "the whole recording (what belongs to which step is uncertain)");
}

TEST_P(DamagedRecordsTest, OneInAHundredIdsShuffled) {
  Do([](Rank& rank) { ShuffleIds(rank, 0.01, 7); });
  EXPECT_GT(Found("wrong_links"), 0);
  ExpectNothingOff();
}

TEST_P(DamagedRecordsTest, ClockSet) {
  for (const TimeNs by :
       {TimeNs{5'000'000'000}, TimeNs{300'000'000}, TimeNs{-300'000'000}, TimeNs{-5'000'000'000}}) {
    SetUp();
    off_.clear();
    Do([by](Rank& rank) { SetClock(rank, rank.start + (rank.end - rank.start) * 6 / 10, by); });
    EXPECT_EQ(Found("clock_step"), static_cast<std::int64_t>(run_.ranks.size())) << by;
    ExpectNothingOff();
    EXPECT_EQ(Withheld().contains("times"), by < 0) << by;
    const std::string& text = damaged_.trust().findings(0).text();
    EXPECT_NE(text.find(by < 0 ? "to about a second after " : "all times after "),
              std::string::npos)
        << text;
  }
}

TEST_P(DamagedRecordsTest, SevenDurationsOfTenSeconds) {
  Do([](Rank& rank) { CorruptDurations(rank, 7, 10'000'000'000, 7); });
  EXPECT_EQ(Found("corrupt_durations"), 7 * static_cast<std::int64_t>(run_.ranks.size()));
  EXPECT_TRUE(Withheld().empty());
  ExpectNothingOff();
}

INSTANTIATE_TEST_SUITE_P(All, DamagedRecordsTest, testing::ValuesIn(kRecordings),
                         [](const testing::TestParamInfo<const char*>& recording) {
                           const std::string name = recording.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace traceinject
