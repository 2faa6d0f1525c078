// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/script.h"

#include <gtest/gtest.h>

#include <set>

#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

TEST(Script, IsOneStepALine) {
  const auto steps = ParseScript(
      "# comment\n\n  show 1s 1.2s  # more\nclick \"stream 7@1ms\"\r\nzoom-in\nkey Ctrl+F Esc");
  ASSERT_TRUE(steps.ok()) << steps.error();
  ASSERT_EQ(steps.value().size(), 4U);
  EXPECT_EQ(steps.value()[0].verb, ScriptVerb::kShow);
  EXPECT_EQ(steps.value()[0].line, 3U);
  EXPECT_EQ(steps.value()[0].arguments, (std::vector<std::string>{"1s", "1.2s"}));
  EXPECT_EQ(steps.value()[1].arguments, (std::vector<std::string>{"stream 7@1ms"}));
  EXPECT_EQ(steps.value()[2].command, CommandId::kZoomIn);
  EXPECT_EQ(steps.value()[3].arguments.size(), 2U);
  EXPECT_EQ(steps.value()[3].line, 6U);
}

TEST(Script, MistakesNameTheLine) {
  const std::pair<const char*, const char*> kMistakes[] = {
      {"zoom-in\nzom-out", "line 2: unknown command \"zom-out\"; did you mean zoom-out?"},
      {"xyzzy", "line 1: unknown command \"xyzzy\""},
      {"show 1s", "line 1: expected: show FROM TO"},
      {"fit all", "line 1: fit takes no arguments"},
      {"click \"a", "line 1: a quotation mark is not closed"},
      {"click a b", "line 1: expected: click [PLACE]"},
  };
  for (const auto& [text, message] : kMistakes) {
    const auto steps = ParseScript(text);
    ASSERT_FALSE(steps.ok()) << text;
    EXPECT_EQ(steps.error(), message);
  }
  EXPECT_FALSE(ParseScript(std::string("\0\x1b", 2)).ok());
}

TEST(Script, WordsAreNoCommands) {
  std::set<ScriptVerb> verbs;
  for (const ScriptUsage& usage : ScriptUsages()) {
    EXPECT_TRUE(verbs.insert(usage.verb).second) << usage.name;
    EXPECT_EQ(CommandNamed(usage.name), std::nullopt) << usage.name;
    EXPECT_FALSE(usage.help.empty());
  }
  EXPECT_EQ(verbs.size(), static_cast<std::size_t>(ScriptVerb::kScreenshot)) << "all but commands";
}

class ScriptPlaces : public testing::Test {
 protected:
  ScriptPlaces() { timeline_.Resize(1300, 400); }
  std::string Problem(std::string_view place) const {
    const auto found = FindPlace(timeline_, place);
    return found.ok() ? "" : found.error();
  }

  std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  Timeline timeline_{loaded_->run, loaded_->rows};
};

TEST_F(ScriptPlaces, AreRowsAndTimesOrPixels) {
  const auto place = FindPlace(timeline_, "stream 7@100us");  // 1 ms on the clock of the run
  ASSERT_TRUE(place.ok()) << place.error();
  EXPECT_NEAR(place.value().x, timeline_.Plot().left + timeline_.view().X(kMs), 0.1);
  EXPECT_TRUE(timeline_.EventAt(place.value().x + 1, place.value().y).has_value());
  EXPECT_EQ(FindPlace(timeline_, "rank 0/stream 7@100us").value().y, place.value().y);
  EXPECT_GT(FindPlace(timeline_, "stream 7#1@100us").value().y, place.value().y);
  EXPECT_LT(FindPlace(timeline_, "ruler@100us").value().y, Sizes().ruler);
  EXPECT_EQ(FindPlace(timeline_, "120,-30").value().x, 120);
  EXPECT_EQ(FindPlace(timeline_, "120,-30").value().y, -30);
}

TEST_F(ScriptPlaces, MistakesAreToldInWords) {
  EXPECT_EQ(Problem("stream 8@1ms"), "no row \"stream 8\"");
  EXPECT_EQ(Problem("rank 5/stream 7@1ms"), "no row \"rank 5/stream 7\"");
  EXPECT_EQ(Problem("stream 7#2@1ms"), "the row \"stream 7\" has 2 lanes");
  EXPECT_NE(Problem("stream 7@soon"), "");
  EXPECT_EQ(Problem("nowhere"), "\"nowhere\" is not a place: expected x,y or row@time");
  EXPECT_NE(Problem("12,"), "");
  EXPECT_NE(Problem(""), "");
}

TEST_F(ScriptPlaces, EventsAreFoundAnywhere) {
  timeline_.Show(4 * kMs, 4'100 * kUs);
  const auto event = FindEventAt(timeline_, "stream 7@110us");
  ASSERT_TRUE(event.ok()) << event.error();
  EXPECT_EQ(event.value().event, 0U);
  EXPECT_EQ(FindEventAt(timeline_, "stream 7@170us").error(), "no event at \"stream 7@170us\"");
  EXPECT_FALSE(FindEventAt(timeline_, "ruler@1ms").ok());
  EXPECT_FALSE(FindEventAt(timeline_, "stream 7@99s").ok());
}

}  // namespace
}  // namespace traceinject
