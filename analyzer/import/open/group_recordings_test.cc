// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/group_recordings.h"

#include <gtest/gtest.h>

#include <map>

namespace traceinject {
namespace {

using Marks = std::map<std::string, std::set<std::string>>;

// "stem: path path" of each group.
std::vector<std::string> Grouped(const std::vector<std::string>& names, Marks marks = {}) {
  std::vector<NamedRecording> recordings;
  recordings.reserve(names.size());
  for (const std::string& name : names) recordings.push_back({name, name});
  std::vector<std::string> texts;
  for (const RecordingGroup& group :
       GroupRecordings(recordings, [&](const std::string& path) { return marks[path]; })) {
    texts.push_back(group.stem + ":");
    for (const std::string& path : group.paths) texts.back() += " " + path;
  }
  return texts;
}
using Groups = std::vector<std::string>;

TEST(GroupRecordingsTest, RanksOfOneNameAreOneJob) {
  EXPECT_EQ(Grouped({"run.rank00001.p7.db", "run.rank00000.db.zst", "other.db"}),
            (Groups{"other: other.db", "run: run.rank00000.db.zst run.rank00001.p7.db"}));
}

TEST(GroupRecordingsTest, ProcessesOfOneNameMayBeTwoJobs) {
  EXPECT_EQ(Grouped({"run.db", "run.p12.db"}), (Groups{"run: run.db", "run.p12: run.p12.db"}));
  EXPECT_EQ(Grouped({"run.db", "run.p12.db"}, {{"run.db", {"a"}}, {"run.p12.db", {"b"}}}).size(),
            2U);
}

TEST(GroupRecordingsTest, WhatTellsTheSameIsOneJob) {
  EXPECT_EQ(Grouped({"run.db", "run.p12.db", "run.p13.db"},
                    {{"run.db", {"a", "x"}}, {"run.p12.db", {"x"}}, {"run.p13.db", {"b"}}}),
            (Groups{"run: run.db run.p12.db", "run.p13: run.p13.db"}));
}

TEST(GroupRecordingsTest, OneNameAsksNobody) {
  bool asked = false;
  GroupRecordings({{"a.rank00000.db", "a.rank00000.db"}, {"a.rank00001.db", "a.rank00001.db"}},
                  [&](const std::string&) {
                    asked = true;
                    return std::set<std::string>();
                  });
  EXPECT_FALSE(asked);
}

TEST(GroupRecordingsTest, WhatCannotBeOpenedHasNoMarks) {
  EXPECT_TRUE(RunMarks("/no/such/run.db").empty());
  EXPECT_TRUE(CommunicatorMarks("/no/such/run.db.zst").empty());
}

}  // namespace
}  // namespace traceinject
