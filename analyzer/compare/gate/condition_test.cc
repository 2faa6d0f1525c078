// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/condition.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "analyzer/verdict/labels.h"
#include "analyzer/verdict/levers.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto condition = ParseCondition(text, "--require");
  return condition.ok() ? "" : condition.error();
}

double LimitOf(const std::string& text) {
  const auto condition = ParseCondition(text, "--require");
  EXPECT_TRUE(condition.ok()) << condition.error();
  return condition.ok() ? condition.value().limit : 0;
}

TEST(ConditionTest, NameRelationAndValue) {
  const auto condition = ParseCondition("  mfu>=0.42\t", "limits.txt:3");
  ASSERT_TRUE(condition.ok()) << condition.error();
  EXPECT_EQ(condition.value().figure, FindFigure("mfu"));
  EXPECT_EQ(condition.value().relation, Relation::kAtLeast);
  EXPECT_EQ(condition.value().text, "mfu>=0.42");
  EXPECT_EQ(condition.value().origin, "limits.txt:3");
  EXPECT_TRUE(condition.value().holds(0.42));
  EXPECT_FALSE(condition.value().holds(0.41));
}

TEST(ConditionTest, Relations) {
  const auto holds = [](const std::string& relation, double value) {
    return ParseCondition("step_ms " + relation + " 10", "").value().holds(value);
  };
  for (const auto& [relation, below, equal, above] :
       {std::tuple("<", true, false, false), std::tuple("<=", true, true, false),
        std::tuple(">", false, false, true), std::tuple(">=", false, true, true),
        std::tuple("==", false, true, false), std::tuple("!=", true, false, true)}) {
    EXPECT_EQ(holds(relation, 9), below) << relation;
    EXPECT_EQ(holds(relation, 10), equal) << relation;
    EXPECT_EQ(holds(relation, 11), above) << relation;
    EXPECT_EQ(
        RelationText(ParseCondition(std::string("step_ms ") + relation + "1", "").value().relation),
        relation);
  }
}

TEST(ConditionTest, UnitsOfValues) {
  EXPECT_DOUBLE_EQ(LimitOf("step_ms <= 310"), 310);
  EXPECT_DOUBLE_EQ(LimitOf("step_ms <= 310 ms"), 310);
  EXPECT_DOUBLE_EQ(LimitOf("step_ms <= 0.31s"), 310);
  EXPECT_DOUBLE_EQ(LimitOf("exposed_comm_share <= 10%"), 0.1);
  EXPECT_DOUBLE_EQ(LimitOf("peak_memory_bytes <= 70GB"), 70e9);
  EXPECT_DOUBLE_EQ(LimitOf("peak_memory_bytes <= 64 GiB"), 64.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(LimitOf("busy_sm_clock_mhz >= 1.7GHz"), 1700);
  EXPECT_TRUE(Says(ErrorOf("step_ms <= 3GB"), "may be followed by ms, us, s"));
  for (const char* text : {"step_ms <= ", "step_ms <= nan", "step_ms <= inf", "step_ms <= 1e300",
                           "step_ms <= 1 2", "comm_compute_ratio <= 3%", "mfu >= x"})
    EXPECT_NE(ErrorOf(text), "") << text;
}

TEST(ConditionTest, VerdictsAreThoseThatExist) {
  const auto condition = ParseCondition("verdict != dataloader", "").value();
  EXPECT_EQ(condition.figure, nullptr);
  EXPECT_FALSE(condition.holds(std::string_view("dataloader")));
  EXPECT_TRUE(condition.holds(std::string_view("inconclusive")));
  EXPECT_TRUE(ParseCondition("verdict==compute_bound", "").value().holds("compute_bound"));
  EXPECT_TRUE(Says(ErrorOf("verdict != dataloadr"), "did you mean 'dataloader'?"));
  EXPECT_TRUE(Says(ErrorOf("verdict != zzzzzz"), "analyze gate --list"));
  EXPECT_TRUE(Says(ErrorOf("verdict <= dataloader"), "== or !="));
  // What has levers is a label, and every label but the healthy and the unknown one has some.
  for (const std::string_view label : kVerdictLabels) {
    const bool told = label != "compute_bound" && label != "inconclusive" && label != "straggler" &&
                      label != "imbalance" && label != "slow_link" && label != "pipeline_bubble" &&
                      label != "host_code";  // those of its lines
    if (told) {
      EXPECT_FALSE(LeversOf(label, {}).empty()) << label;
    }
  }
}

TEST(ConditionTest, MistakesAreTold) {
  EXPECT_TRUE(Says(ErrorOf("stepms <= 3"), "did you mean 'step_ms'?"));
  EXPECT_TRUE(Says(ErrorOf("verdct == compute_bound"), "did you mean 'verdict'?"));
  for (const char* text : {"", "mfu", "<= 3", "mfu 0.4", "mfu = 0.4", "mfu => 0.4", "mfu <=> 0.4"})
    EXPECT_NE(ErrorOf(text), "") << text;
  // What is told is fit for a terminal.
  EXPECT_FALSE(Says(ErrorOf("\033[31mmfu >= 1"), "\033"));
}

TEST(BudgetTest, AConditionALine) {
  TemporaryFolder folder;
  std::ofstream(folder / "budget") << "# limits of the 7B run\n\nmfu >= 0.42  # bf16\r\n"
                                   << "\tverdict != dataloader";
  const auto budget = ReadBudget(folder / "budget");
  ASSERT_TRUE(budget.ok()) << budget.error();
  ASSERT_EQ(budget.value().size(), 2U);
  EXPECT_EQ(budget.value()[0].text, "mfu >= 0.42");
  EXPECT_EQ(budget.value()[1].origin, folder / "budget" + ":4");
}

TEST(BudgetTest, ErrorsNameFileAndLine) {
  TemporaryFolder folder;
  std::ofstream(folder / "budget") << "mfu >= 0.42\n\nmfuu >= 0.42\n";
  EXPECT_TRUE(
      Says(ReadBudget(folder / "budget").error(), folder / "budget" + ":3: 'mfuu >= 0.42'"));
  std::ofstream(folder / "empty") << "# nothing\n";
  EXPECT_TRUE(Says(ReadBudget(folder / "empty").error(), "contains no condition"));
  EXPECT_TRUE(Says(ReadBudget(folder / "none").error(), folder / "none"));
  EXPECT_TRUE(Says(ReadBudget(folder.path().string()).error(), folder.path().string()));
}

// What the documents show works.
TEST(ConditionTest, ConditionsOfTheDocuments) {
  std::stringstream pages;
  for (const char* page : {"commands.md", "reading-a-report.md", "tutorial.md"})
    pages << std::ifstream(std::string(TRACEINJECT_DOCS "/") + page).rdbuf();
  const std::string text = pages.str();
  static const std::regex kRequired("--require '([^']*)'");
  int count = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), kRequired), end; match != end;
       ++match) {
    EXPECT_EQ(ErrorOf((*match)[1]), "");
    ++count;
  }
  EXPECT_GT(count, 0);
  for (const std::string_view label : kVerdictLabels)
    EXPECT_TRUE(Says(text, "`" + std::string(label) + "`")) << label;
}

}  // namespace
}  // namespace traceinject
