// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/commands.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace traceinject {
namespace {

TEST(Commands, NoKeyMeansTwoThings) {
  std::map<Key, CommandId> owners;
  for (const Command& command : Commands()) {
    for (const Key key : {command.key, command.other_key}) {
      if (key == Key::kNoKey) continue;
      EXPECT_TRUE(owners.emplace(key, command.id).second)
          << KeyName(key) << " also means " << command.title;
    }
  }
}

TEST(Commands, EachIsThereOnceWithKeyAndWords) {
  std::set<CommandId> ids;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(ids.insert(command.id).second) << command.title;
    EXPECT_FALSE(KeysOf(command).empty()) << command.title;
    EXPECT_FALSE(command.title.empty());
    EXPECT_FALSE(command.help.empty());
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(CommandId::kColours) + 1);
}

TEST(Commands, EveryKeyHasANameAndFindsItsCommand) {
  std::set<std::string_view> names;
  for (const Command& command : Commands()) {
    for (const Key key : {command.key, command.other_key}) {
      if (key == Key::kNoKey) continue;
      EXPECT_TRUE(names.insert(KeyName(key)).second) << KeyName(key);
      EXPECT_EQ(CommandFor(key), command.id);
    }
  }
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(CommandFor(Key::kNoKey), std::nullopt);
}

TEST(Commands, HelpNamesBothKeys) {
  EXPECT_EQ(KeysOf(Commands()[0]), "W");
  for (const Command& command : Commands()) {
    if (command.id != CommandId::kShowAll) continue;
    EXPECT_EQ(KeysOf(command), "Home or 0");
  }
}

}  // namespace
}  // namespace traceinject
