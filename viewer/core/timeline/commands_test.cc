// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace traceinject {
namespace {

TEST(Commands, NoKeyMeansTwoThings) {
  std::map<std::string, std::string_view> owners;
  for (const Command& command : Commands()) {
    for (const KeyPress& press : {command.key, command.other_key}) {
      if (press.key == Key::kNoKey) continue;
      EXPECT_TRUE(owners.emplace(KeyPressName(press), command.title).second)
          << KeyPressName(press) << " also means " << command.title;
    }
  }
}

TEST(Commands, EachIsThereOnceWithKeyAndWords) {
  std::set<CommandId> ids;
  std::set<std::string_view> names, titles;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(ids.insert(command.id).second) << command.title;
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_TRUE(titles.insert(command.title).second) << command.title;
    EXPECT_NE(command.key.key, Key::kNoKey) << command.title;
    EXPECT_FALSE(command.help.empty());
    EXPECT_EQ(CommandNamed(command.name), command.id);
    EXPECT_EQ(CommandFor(command.key), command.id);
    EXPECT_EQ(command.name.find(' '), std::string_view::npos) << "scripts are split at spaces";
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(CommandId::kSavePicture) + 1);
  EXPECT_EQ(CommandFor(Key::kNoKey), std::nullopt);
  EXPECT_EQ(CommandNamed("dance"), std::nullopt);
}

TEST(Commands, ModifiersMakeAnotherKeyOfIt) {
  EXPECT_EQ(CommandFor(Key::kF), CommandId::kFitSelection);
  EXPECT_EQ(CommandFor({Key::kF, {.control = true}}), CommandId::kFind);
  EXPECT_EQ(CommandFor({Key::kF, {.shift = true}}), std::nullopt);
  EXPECT_EQ(CommandFor({Key::kM, {.shift = true}}), CommandId::kNewMark);
  EXPECT_EQ(CommandFor({Key::kP, {.control = true, .shift = true}}), CommandId::kPalette);
  EXPECT_EQ(CommandFor({Key::kP, {.control = true}}), std::nullopt);
}

TEST(Commands, OnlySomeRepeatWhileTheKeyIsDown) {
  EXPECT_EQ(CommandFor({Key::kW, {}, true}), CommandId::kZoomIn);
  EXPECT_EQ(CommandFor({Key::kM, {}, true}), std::nullopt);
  EXPECT_EQ(CommandFor({Key::kQ, {}, true}), std::nullopt);
}

TEST(Commands, HelpNamesBothKeys) {
  const auto keys_of = [](CommandId id) {
    return KeysOf(*std::ranges::find(Commands(), id, &Command::id));
  };
  EXPECT_EQ(keys_of(CommandId::kZoomIn), "W");
  EXPECT_EQ(keys_of(CommandId::kShowAll), "Home or 0");
  EXPECT_EQ(keys_of(CommandId::kPalette), "Ctrl+Shift+P");
}

TEST(Commands, AreFoundByWords) {
  EXPECT_EQ(CommandsMatching("", ShownIn::kWindow).size() + 2, Commands().size());
  EXPECT_EQ(CommandsMatching("", ShownIn::kBrowser).size() + 3, Commands().size());
  EXPECT_EQ(CommandsMatching("ZOOM in", ShownIn::kWindow).front()->id, CommandId::kZoomIn);
  EXPECT_EQ(CommandsMatching("  run whole ", ShownIn::kWindow).front()->id, CommandId::kShowAll);
  const auto collective = CommandsMatching("collective", ShownIn::kWindow);
  EXPECT_EQ(collective.size(), 2U) << "the help counts too";
  EXPECT_TRUE(CommandsMatching("zoom xyzzy", ShownIn::kWindow).empty());
  const auto mark = CommandsMatching("mark", ShownIn::kWindow);
  ASSERT_GT(mark.size(), 4U);
  EXPECT_EQ(mark.front()->id, CommandId::kMark);
  EXPECT_EQ(mark.back()->id, CommandId::kMeasureSelection) << "only its help speaks of marks";
}

TEST(Commands, GesturesAreThereOnceWithWords) {
  std::set<GestureId> ids;
  for (const Gesture& gesture : Gestures()) {
    EXPECT_TRUE(ids.insert(gesture.id).second) << gesture.gesture;
    EXPECT_FALSE(gesture.gesture.empty());
    EXPECT_FALSE(gesture.help.empty());
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(GestureId::kOverview) + 1);
}

TEST(Keys, EachHasANameOfItsOwnThatIsRead) {
  std::set<std::string> names;
  for (int key = static_cast<int>(Key::kA); key <= static_cast<int>(kLastKey); ++key) {
    const std::string name = KeyName(static_cast<Key>(key));
    EXPECT_FALSE(name.empty()) << key;
    EXPECT_TRUE(names.insert(name).second) << name;
    const auto read = ParseKeyPress(name);
    ASSERT_TRUE(read.has_value()) << name;
    EXPECT_EQ(read->key, static_cast<Key>(key));
  }
  EXPECT_EQ(KeyName(Key::kNoKey), "");
}

TEST(Keys, CombinationsAreWrittenAndRead) {
  const KeyPress press{Key::kP, {.control = true, .shift = true}};
  EXPECT_EQ(KeyPressName(press), "Ctrl+Shift+P");
  ASSERT_TRUE(ParseKeyPress("ctrl+shift+p").has_value());
  EXPECT_TRUE(ParseKeyPress("ctrl+shift+p")->Is(press));
  EXPECT_FALSE(ParseKeyPress("Alt+P")->Is(press));
  for (const char* wrong : {"", "Ctrl+", "Ctrl", "AA", "Hyper+A"}) {
    EXPECT_FALSE(ParseKeyPress(wrong).has_value()) << wrong;
  }
}

TEST(Keys, SignsAreFoundByCharacter) {
  EXPECT_EQ(KeyOfCharacter('?'), Key::kQuestion);
  EXPECT_EQ(KeyOfCharacter('['), Key::kLeftBracket);
  EXPECT_EQ(KeyOfCharacter('w'), std::nullopt);
}

}  // namespace
}  // namespace traceinject
